// ThreadLocal of macOS. os/thread_local.h says what it is for.
//
// The key of pthread_key_create() is the index of a word in an array at the thread pointer: pthread_getspecific() is the one load that
// read() does in place. The word is null in a thread that has not written it, and stands for kInitial then.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "common/arch/arch.h"

#define HAKOZUNA_THREAD_LOCAL __attribute__((visibility("hidden")))

namespace hakozuna::os {

// Creates the key that `key` is to hold, unless another thread was faster, and writes the calling thread's word. Aborts where the system has no
// key left (of 512): without it every allocation would make a heap.
[[gnu::cold, gnu::noinline]] void write_thread_slot(std::atomic<pthread_key_t>& key, void (*keep)(void*), uintptr_t word);

template <class T, T kInitial, class Name>
class ThreadLocal {
 public:
  constexpr explicit ThreadLocal(T) {}
  ThreadLocal(const ThreadLocal&) = delete;

  operator T() const { return read(); }
  T operator->() const { return read(); }
  void operator=(T value) {
    const uintptr_t word = value == kInitial ? 0 : word_of(value);
    write_thread_slot(key_, keep, word);
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
    // relaxed: the key is all there is to know. Slot 0 belongs to the system, so that 0 is "no key yet".
    const pthread_key_t key = key_.load(std::memory_order_relaxed);
    if (key == 0) [[unlikely]] return kInitial;
    const uintptr_t word = arch::thread_slot(key);
    return word == 0 ? kInitial : value_of(word);
  }

  // At a thread's end the system takes the words out and calls this. The value must outlive that, until our exit handler has run and in
  // whatever runs after it: it goes back, in each of the four rounds that the system makes.
  static void keep(void* word) { pthread_setspecific(key_.load(std::memory_order_relaxed), word); }

  // Static, so that keep(), which is told the word only, finds it: a variable is the only one of its Name.
  static inline constinit std::atomic<pthread_key_t> key_{0};
};

}  // namespace hakozuna::os
