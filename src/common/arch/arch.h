// Layer arch: what differs by CPU. A port supplies the constants and functions below.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hakozuna::arch {

// Distance at which two words stop sharing a cache line, in bytes. 64 on x86_64 and on every arm64 server core; Apple's arm64
// cores fetch 128, where 64 costs some false sharing and no correctness.
inline constexpr size_t kCacheLineBytes = 64;

// Tells the core that this thread is spinning.
inline void pause() {
#if defined(__x86_64__) || defined(_M_X64)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");  // `yield` is a no-op on most cores; isb waits about as long as x86's pause
#else
#error "arch: this CPU is not supported; see docs/porting.md"
#endif
}

// Sets bit `index` of `word` and returns whether it was set. On x86 in one instruction that leaves the answer in a flag, which compilers do not
// find by themselves; index < 64 there, and taken modulo 64 everywhere.
inline bool test_and_set_bit(uint64_t& word, uint64_t index) {
#if defined(__x86_64__)
  bool was_set;
  asm("btsq %2, %0" : "+r"(word), "=@ccc"(was_set) : "r"(index) : "cc");
  return was_set;
#else
  const uint64_t bit = uint64_t{1} << (index % 64);
  const bool was_set = (word & bit) != 0;
  word |= bit;
  return was_set;
#endif
}

}  // namespace hakozuna::arch
