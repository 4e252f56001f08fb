// Layer arch: what differs by CPU. A port supplies the constants and functions below.
#pragma once

#include <cstddef>

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

inline void prefetch_for_write(const void* address) { __builtin_prefetch(address, 1); }

}  // namespace hakozuna::arch
