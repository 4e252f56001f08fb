// Times of single calls, kept one by one, and their percentiles.
#ifndef BENCH_SCENARIOS_LATENCY_H
#define BENCH_SCENARIOS_LATENCY_H

#include <stddef.h>
#include <stdint.h>

struct Latencies {
  uint32_t* nanoseconds;  // not from malloc
  size_t count;
};

uint64_t now_ns(void);

// What two readings of the clock with nothing between them are apart, in the median.
uint64_t timer_cost_ns(void);

// Writes {"count": ..., "p50": ..., "p95": ..., "p99": ..., "p99_9": ..., "max": ...} as snprintf
// does, with `timer_ns` taken off each time. Sorts the times.
int latencies_json(struct Latencies* latencies, uint64_t timer_ns, char* text, size_t capacity);

#endif
