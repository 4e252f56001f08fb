#include "latency.h"

#include <stdio.h>
#include <time.h>

uint64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}

static void sift_down(uint32_t* heap, size_t root, size_t count) {
  const uint32_t value = heap[root];
  for (size_t child; (child = 2 * root + 1) < count; root = child) {
    if (child + 1 < count && heap[child + 1] > heap[child]) ++child;
    if (heap[child] <= value) break;
    heap[root] = heap[child];
  }
  heap[root] = value;
}

// Heapsort, because qsort may take its buffer from the allocator under test.
static void sort(uint32_t* values, size_t count) {
  for (size_t root = count / 2; root-- > 0;) sift_down(values, root, count);
  for (size_t last = count; last-- > 1;) {
    const uint32_t largest = values[0];
    values[0] = values[last];
    values[last] = largest;
    sift_down(values, 0, last);
  }
}

uint64_t timer_cost_ns(void) {
  enum { kReadings = 10001 };
  static uint32_t apart[kReadings];
  for (size_t i = 0; i < kReadings; ++i) {
    const uint64_t begin = now_ns();
    apart[i] = (uint32_t)(now_ns() - begin);
  }
  sort(apart, kReadings);
  return apart[kReadings / 2];
}

int latencies_json(struct Latencies* latencies, uint64_t timer_ns, char* text, size_t capacity) {
  static const double fractions[] = {0.5, 0.95, 0.99, 0.999, 1.0};
  unsigned long values[sizeof fractions / sizeof fractions[0]] = {0};
  const size_t count = latencies->count;
  sort(latencies->nanoseconds, count);
  for (size_t i = 0; count > 0 && i < sizeof fractions / sizeof fractions[0]; ++i) {
    const uint32_t value =
        latencies->nanoseconds[(size_t)((double)(count - 1) * fractions[i] + 0.5)];
    values[i] = value > timer_ns ? value - timer_ns : 0;
  }
  return snprintf(
      text, capacity,
      "{\"count\": %zu, \"p50\": %lu, \"p95\": %lu, \"p99\": %lu, \"p99_9\": %lu, \"max\": %lu}",
      count, values[0], values[1], values[2], values[3], values[4]);
}
