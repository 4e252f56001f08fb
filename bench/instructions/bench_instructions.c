// bench_instructions: allocation loops whose instructions are counted under callgrind.
//
//   bench_instructions hot|replace|batch real|empty PAIRS
//
// - hot: malloc(64), free.
// - replace: 4,096 live blocks of 16..1024 bytes; each pair frees one, drawn at random, and
//   allocates another in its place.
// - batch: 4,096 blocks of 64 bytes allocated, then freed in the same order.
//
// "empty" runs the same loop without the calls: what the loop itself costs. run_instructions.py
// runs each with two counts, so that the start of the process drops out too. Prints the number of
// pairs and who serves malloc as a JSON object.
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/malloc_provider.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

enum { kSlots = 4096, kHotSize = 64, kMinSize = 16, kSizes = 1009 };

static void* slots[kSlots];

// `real` is a constant in every caller, so each loop is compiled twice.
ALWAYS_INLINE void* take(size_t size, bool real) {
  void* block = real ? malloc(size) : (void*)size;
  __asm__ volatile("" : "+r"(block) : : "memory");
  return block;
}

ALWAYS_INLINE void give(void* block, bool real) {
  __asm__ volatile("" : "+r"(block) : : "memory");
  if (real) free(block);
}

ALWAYS_INLINE uint64_t next_random(uint64_t* state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return *state >> 33;
}

ALWAYS_INLINE void hot(uint64_t pairs, bool real) {
  for (uint64_t i = 0; i < pairs; ++i) give(take(kHotSize, real), real);
}

ALWAYS_INLINE void replace(uint64_t pairs, bool real) {
  uint64_t random = 1;
  for (size_t i = 0; i < kSlots; ++i)
    slots[i] = take(kMinSize + next_random(&random) % kSizes, real);
  for (uint64_t i = 0; i < pairs; ++i) {
    void** slot = &slots[next_random(&random) % kSlots];
    give(*slot, real);
    *slot = take(kMinSize + next_random(&random) % kSizes, real);
  }
}

ALWAYS_INLINE void batch(uint64_t pairs, bool real) {
  for (uint64_t round = 0; round < pairs / kSlots; ++round) {
    for (size_t i = 0; i < kSlots; ++i) slots[i] = take(kHotSize, real);
    for (size_t i = 0; i < kSlots; ++i) give(slots[i], real);
  }
}

struct Workload {
  const char* name;
  void (*real)(uint64_t);
  void (*empty)(uint64_t);
};

#define DEFINE_WORKLOAD(name)                                    \
  static void name##_real(uint64_t pairs) { name(pairs, true); } \
  static void name##_empty(uint64_t pairs) { name(pairs, false); }
DEFINE_WORKLOAD(hot)
DEFINE_WORKLOAD(replace)
DEFINE_WORKLOAD(batch)

static const struct Workload kWorkloads[] = {
    {"hot", hot_real, hot_empty},
    {"replace", replace_real, replace_empty},
    {"batch", batch_real, batch_empty},
};

static int usage_error(void) {
  dprintf(STDERR_FILENO,
          "bench_instructions: usage: bench_instructions hot|replace|batch real|empty PAIRS\n");
  return 2;
}

int main(int argc, char** argv) {
  if (argc != 4) return usage_error();
  const bool real = strcmp(argv[2], "real") == 0;
  if (!real && strcmp(argv[2], "empty") != 0) return usage_error();
  char* end;
  const uint64_t pairs = strtoull(argv[3], &end, 10);
  if (argv[3][0] < '0' || argv[3][0] > '9' || *end != '\0') return usage_error();
  for (size_t i = 0; i < sizeof kWorkloads / sizeof kWorkloads[0]; ++i) {
    if (strcmp(kWorkloads[i].name, argv[1]) != 0) continue;
    (real ? kWorkloads[i].real : kWorkloads[i].empty)(pairs);
    dprintf(STDOUT_FILENO, "{\"pairs\": %" PRIu64 ", \"served_by\": \"%s\"}\n", pairs,
            malloc_provider_json());
    return 0;
  }
  return usage_error();
}
