// What a scenario asks of the allocator, call by call, written down before the first call is
// measured: every allocator sees the same, and drawing random numbers costs no time in the measured
// loop.
#ifndef BENCH_SCENARIOS_TRACE_H
#define BENCH_SCENARIOS_TRACE_H

#include <stddef.h>
#include <stdint.h>

enum { kSlots = 4096 };

enum CallKind { kMalloc, kFree, kRealloc, kCallKinds };

struct Call {
  uint32_t kind;  // CallKind
  uint32_t slot;  // where the block is kept
  uint64_t size;  // bytes; 0 for free
};

enum Touch {
  kTouchEnds,   // first and last byte: the cost of the call is the point
  kTouchPages,  // one byte in every page: what a program that fills its buffers pays
};

struct Scenario {
  const char* name;
  enum Touch touch;
  size_t longest;  // upper bound of the number of calls
  // Writes the calls and returns their number; every block is freed at the end.
  size_t (*write)(struct Call* calls, uint64_t random);
};

extern const struct Scenario kScenarios[];
extern const size_t kScenarioCount;

#endif
