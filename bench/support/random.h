// xorshift64*: one stream for each (run, thread), the same for every allocator.
#ifndef BENCH_SUPPORT_RANDOM_H
#define BENCH_SUPPORT_RANDOM_H

#include <stdint.h>

static inline uint64_t random_seed(uint64_t run, uint64_t thread) {
  return UINT64_C(0x9e3779b97f4a7c15) ^ ((run + 1) * UINT64_C(0xbf58476d1ce4e5b9)) ^
         ((thread + 1) * UINT64_C(0x94d049bb133111eb));
}

static inline uint32_t random_next(uint64_t* state) {
  uint64_t x = *state;
  x ^= x >> 12;
  x ^= x << 25;
  x ^= x >> 27;
  *state = x;
  return (x * UINT64_C(2685821657736338717)) >> 32;  // always fits
}

#endif
