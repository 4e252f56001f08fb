#include "options.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kUsageError = 2 };

struct OptionRule {
  const char* name;
  size_t offset;  // of the uint64_t in struct Options
  uint64_t preset;
  uint64_t lowest;
  uint64_t highest;
  const char* help;
};

static const struct OptionRule kRules[] = {
    {"--threads", offsetof(struct Options, threads), 16, 1, 4096, "threads"},
    {"--iters", offsetof(struct Options, iterations), 50000, 1, UINT64_C(1) << 40,
     "allocations of each thread"},
    {"--min-size", offsetof(struct Options, min_size), 16, 1, UINT32_MAX, "smallest block, bytes"},
    {"--max-size", offsetof(struct Options, max_size), 2048, 1, UINT32_MAX, "largest block, bytes"},
    {"--remote-pct", offsetof(struct Options, remote_percent), 0, 0, 100,
     "per cent of the blocks that another thread frees"},
    {"--interleaved", offsetof(struct Options, interleaved), 0, 0, 1,
     "1: every 32 allocations a thread frees what it was sent; 0: after all allocations"},
    {"--live-window", offsetof(struct Options, live_window), 0, 0, UINT32_MAX,
     "own blocks a thread keeps, 0: frees them at once"},
    {"--runs", offsetof(struct Options, runs), 1, 1, 1000000, "runs in this process"},
    {"--run", offsetof(struct Options, first_run), 0, 0, UINT32_MAX,
     "index of the first run; it chooses the random streams"},
};
enum { kRuleCount = sizeof kRules / sizeof kRules[0] };

static uint64_t* field(struct Options* options, const struct OptionRule* rule) {
  return (uint64_t*)((char*)options + rule->offset);
}

static void print_help(void) {
  printf(
      "usage: bench_matrix [OPTION VALUE]...\n\n"
      "Runs one allocation workload through malloc and free and prints one JSON object per "
      "run.\n\n");
  for (size_t i = 0; i < kRuleCount; ++i) {
    printf("  %-14s %s (default %" PRIu64 ")\n", kRules[i].name, kRules[i].help, kRules[i].preset);
  }
}

static const struct OptionRule* find_rule(const char* name) {
  for (size_t i = 0; i < kRuleCount; ++i) {
    if (strcmp(kRules[i].name, name) == 0) return &kRules[i];
  }
  fprintf(stderr, "bench_matrix: unknown option %s (--help lists them)\n", name);
  exit(kUsageError);
}

static uint64_t parse_value(const struct OptionRule* rule, const char* text) {
  char* end;
  errno = 0;
  const unsigned long long value = strtoull(text, &end, 10);
  if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || value < rule->lowest ||
      value > rule->highest) {
    fprintf(stderr, "bench_matrix: %s %s: not a number from %" PRIu64 " to %" PRIu64 "\n",
            rule->name, text, rule->lowest, rule->highest);
    exit(kUsageError);
  }
  return value;
}

struct Options parse_options(int argc, char** argv) {
  struct Options options;
  for (size_t i = 0; i < kRuleCount; ++i) *field(&options, &kRules[i]) = kRules[i].preset;
  for (int i = 1; i < argc; i += 2) {
    if (strcmp(argv[i], "--help") == 0) {
      print_help();
      exit(0);
    }
    const struct OptionRule* rule = find_rule(argv[i]);
    if (i + 1 == argc) {
      fprintf(stderr, "bench_matrix: %s needs a value\n", rule->name);
      exit(kUsageError);
    }
    *field(&options, rule) = parse_value(rule, argv[i + 1]);
  }
  if (options.min_size > options.max_size) {
    fprintf(stderr, "bench_matrix: --min-size %" PRIu64 " is above --max-size %" PRIu64 "\n",
            options.min_size, options.max_size);
    exit(kUsageError);
  }
  return options;
}
