// Layer arch: what differs by CPU. A port supplies the constants and functions below.
#pragma once

#include <atomic>
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

// Fetches the line of an address that is about to be written, also where another CPU has it. A hint.
inline void prefetch_for_write(const void* address) {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(address)));  // what compilers emit for x86-64 in general asks for reading only
#else
  __builtin_prefetch(address, 1);
#endif
}

// What tells the calling thread from all others that are alive, in one instruction; never 0. A new thread may get that of one that has ended.
inline uintptr_t thread_pointer() {
  uintptr_t pointer;
#if defined(__x86_64__) && defined(__linux__)
  asm("movq %%fs:0, %0" : "=r"(pointer));
#elif defined(__x86_64__) && defined(__APPLE__)
  asm("movq %%gs:0, %0" : "=r"(pointer));
#elif defined(__x86_64__) && defined(_WIN32)
  asm("movq %%gs:0x30, %0" : "=r"(pointer));
#elif defined(__aarch64__) && defined(__linux__)
  asm("mrs %0, tpidr_el0" : "=r"(pointer));
#elif defined(__aarch64__) && defined(__APPLE__)
  asm("mrs %0, tpidrro_el0" : "=r"(pointer));
  pointer &= ~uintptr_t{7};  // the number of a CPU, in older systems
#else
#error "arch: this CPU and system are not supported; see docs/porting.md"
#endif
  return pointer;
}

#if defined(__APPLE__) || defined(_WIN32)
// The calling thread's word for a key of os/thread_slot.h. Volatile: the thread may have written it since.
inline uintptr_t thread_slot(uintptr_t key) {
#if defined(_WIN32)
  uintptr_t word;
  asm volatile("movq %%gs:(%1), %0" : "=r"(word) : "r"(key));
  return word;
#elif defined(__x86_64__)
  uintptr_t word;
  asm volatile("movq %%gs:(,%1,8), %0" : "=r"(word) : "r"(key));
  return word;
#else
  return reinterpret_cast<const volatile uintptr_t*>(thread_pointer())[key];
#endif
}
#endif

// Comparisons with a relaxed load of an atomic word. On x86 the load is part of the comparison, which compilers do for plain words only.
inline bool is_above(size_t value, const std::atomic<size_t>& word) {
#if defined(__x86_64__)
  bool above;
  asm("cmpq %2, %1" : "=@cca"(above) : "r"(value), "m"(word) : "cc");
  return above;
#else
  return value > word.load(std::memory_order_relaxed);
#endif
}
inline bool is_below(size_t value, const std::atomic<size_t>& word) {
#if defined(__x86_64__)
  bool below;
  asm("cmpq %2, %1" : "=@ccb"(below) : "r"(value), "m"(word) : "cc");
  return below;
#else
  return value < word.load(std::memory_order_relaxed);
#endif
}
inline bool is_equal(uintptr_t value, const std::atomic<uintptr_t>& word) {
#if defined(__x86_64__)
  bool equal;
  asm("cmpq %2, %1" : "=@cce"(equal) : "r"(value), "m"(word) : "cc");
  return equal;
#else
  return value == word.load(std::memory_order_relaxed);
#endif
}

// Moves a pointer in memory by one element, up or down. On x86 in one instruction; compilers take three where they have read the pointer before.
template <class T>
inline void step_up(T*& pointer) {
#if defined(__x86_64__)
  asm("addq %1, %0" : "+m"(pointer) : "i"(sizeof(T)) : "cc");
#else
  ++pointer;
#endif
}
template <class T>
inline void step_down(T*& pointer) {
#if defined(__x86_64__)
  asm("subq %1, %0" : "+m"(pointer) : "i"(sizeof(T)) : "cc");
#else
  --pointer;
#endif
}

// Has the compiler keep the value where a function returns it: it is going to be returned, and a move is spared.
inline void keep_for_return([[maybe_unused]] void*& value) {
#if defined(__x86_64__)
  asm("" : "+a"(value));
#endif
}

}  // namespace hakozuna::arch
