// ThreadLocal of systems whose thread_local may allocate: a slot that the system hands out, whose word is read in place, without a call.
// os/thread_local.h says what it is for.
//
// The word is 0 in a thread that has not written it: it holds the bits of the value, flipped where kInitial has ones.
#pragma once

#include <atomic>
#include <cstdint>

#include "common/arch/arch.h"

#define HAKOZUNA_THREAD_LOCAL __attribute__((visibility("hidden")))

namespace hakozuna::os {

// What arch::thread_slot() takes; 0: the variable has none yet.
using ThreadSlotKey = uintptr_t;

// Takes a slot for `key`, unless another thread was faster, and writes the calling thread's word. Aborts where the system has none left: without
// it every allocation would make a heap. `keep` is for systems that take the words out when a thread ends: see ThreadLocal.
[[gnu::cold, gnu::noinline]] void write_thread_slot(std::atomic<ThreadSlotKey>& key, void (*keep)(void*), uintptr_t word);

template <class T, T kInitial, class Name>
class ThreadLocal {
 public:
  constexpr explicit ThreadLocal(T) {}
  ThreadLocal(const ThreadLocal&) = delete;

  operator T() const { return read(); }
  T operator->() const { return read(); }
  void operator=(T value) {
    write_thread_slot(key_, keep, word_of(value) ^ word_of(kInitial));
  }

 private:
  static uintptr_t word_of(T value) {
    if constexpr (requires { static_cast<uintptr_t>(value); }) {
      return static_cast<uintptr_t>(value);
    } else {
      return reinterpret_cast<uintptr_t>(value);
    }
  }
  static T value_of(uintptr_t word) {
    if constexpr (requires { static_cast<T>(word); }) {
      return static_cast<T>(word);
    } else {
      return reinterpret_cast<T>(word);
    }
  }

  static T read() {
    // relaxed: the key is all there is to know.
    const ThreadSlotKey key = key_.load(std::memory_order_relaxed);
    if (key == 0) [[unlikely]] return kInitial;
    return value_of(arch::thread_slot(key) ^ word_of(kInitial));
  }

  // macOS takes the words out at a thread's end and calls this. The value must outlive that, until our exit handler has run and in whatever runs
  // after it: it goes back, in each of the four rounds that the system makes.
  static void keep(void* word) { write_thread_slot(key_, keep, reinterpret_cast<uintptr_t>(word)); }

  // Static, so that keep(), which is told the word only, finds it: a variable is the only one of its Name.
  static inline constinit std::atomic<ThreadSlotKey> key_{0};
};

}  // namespace hakozuna::os
