// bench_scenarios: plays one scenario through malloc, free and realloc, and times every call.
//
//   bench_scenarios SCENARIO [--run INDEX]
//
// Prints one JSON object: calls a second, and the percentiles of each kind of call and of the first
// use of the memory, in ns. All of its own memory is mapped, so that the allocator under test
// serves the scenario and nothing else.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "latency.h"
#include "support/malloc_provider.h"
#include "support/random.h"
#include "trace.h"

enum { kUsageError = 2, kTouchTimes = kCallKinds, kTimes };

static const char* const kTimeNames[kTimes] = {"malloc", "free", "realloc", "touch"};

static void* blocks[kSlots];

static _Noreturn void fail(const char* what) {
  dprintf(STDERR_FILENO, "bench_scenarios: %s\n", what);
  _exit(1);
}

static void* map(size_t bytes) {
  // Populated: its page faults are not to fall into the measured loop.
  void* memory =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED) fail("no memory for the trace");
  return memory;
}

static void touch(void* block, size_t size, enum Touch how, size_t page) {
  volatile unsigned char* bytes = block;
  if (how == kTouchPages) {
    for (size_t at = 0; at < size; at += page) bytes[at] = 0xA5;
  }
  bytes[0] = 0xA5;
  bytes[size - 1] = 0x5A;
}

static void record(struct Latencies* latencies, uint64_t nanoseconds) {
  latencies->nanoseconds[latencies->count++] =
      nanoseconds < UINT32_MAX ? (uint32_t)nanoseconds : UINT32_MAX;
}

static void play(const struct Call* call, enum Touch how, size_t page, struct Latencies* times) {
  void** block = &blocks[call->slot];
  const uint64_t begin = now_ns();
  switch (call->kind) {
    case kMalloc:
      *block = malloc(call->size);
      break;
    case kFree:
      free(*block);
      break;
    default:
      *block = realloc(*block, call->size);
      break;
  }
  const uint64_t called = now_ns();
  record(&times[call->kind], called - begin);
  if (call->kind == kFree) return;
  if (!*block) fail("no memory");
  touch(*block, call->size, how, page);
  record(&times[kTouchTimes], now_ns() - called);
}

static void run(const struct Scenario* scenario, uint64_t run_index) {
  struct Call* calls = map(scenario->longest * sizeof *calls);
  const size_t count = scenario->write(calls, random_seed(run_index, 0));
  struct Latencies times[kTimes] = {{0}};
  for (size_t i = 0; i < kTimes; ++i)
    times[i].nanoseconds = map(scenario->longest * sizeof(uint32_t));
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const uint64_t timer_ns = timer_cost_ns();

  const uint64_t begin = now_ns();
  for (size_t i = 0; i < count; ++i) play(&calls[i], scenario->touch, page, times);
  const double seconds = (double)(now_ns() - begin) * 1e-9;

  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  char line[8192];
  size_t length = (size_t)snprintf(line, sizeof line,
                                   "{\"scenario\": \"%s\", \"run\": %" PRIu64
                                   ", \"calls\": %zu, \"calls_per_s\": %.1f, \"timer_ns\": %" PRIu64
                                   ", \"peak_rss\": %ld, \"minor_faults\": %ld, ",
                                   scenario->name, run_index, count, (double)count / seconds,
                                   timer_ns, usage.ru_maxrss * 1024L, usage.ru_minflt);
  for (size_t i = 0; i < kTimes; ++i) {
    length += (size_t)snprintf(line + length, sizeof line - length, "\"%s\": ", kTimeNames[i]);
    length += (size_t)latencies_json(&times[i], timer_ns, line + length, sizeof line - length);
    length += (size_t)snprintf(line + length, sizeof line - length, ", ");
  }
  length += (size_t)snprintf(line + length, sizeof line - length, "\"served_by\": \"%s\"}\n",
                             malloc_provider_json());
  if (write(STDOUT_FILENO, line, length) != (ssize_t)length) fail("the result cannot be written");
}

static int usage_error(void) {
  dprintf(STDERR_FILENO,
          "bench_scenarios: usage: bench_scenarios SCENARIO [--run INDEX], SCENARIO one of");
  for (size_t i = 0; i < kScenarioCount; ++i) dprintf(STDERR_FILENO, " %s", kScenarios[i].name);
  dprintf(STDERR_FILENO, "\n");
  return kUsageError;
}

int main(int argc, char** argv) {
  if (argc != 2 && (argc != 4 || strcmp(argv[2], "--run") != 0)) return usage_error();
  uint64_t run_index = 0;
  if (argc == 4) {
    char* end;
    run_index = strtoull(argv[3], &end, 10);
    if (argv[3][0] < '0' || argv[3][0] > '9' || *end != '\0') return usage_error();
  }
  for (size_t i = 0; i < kScenarioCount; ++i) {
    if (strcmp(kScenarios[i].name, argv[1]) != 0) continue;
    run(&kScenarios[i], run_index);
    return 0;
  }
  return usage_error();
}
