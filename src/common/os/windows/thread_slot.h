// A thread word as one of the 64 TlsAlloc() slots that lie in the thread's environment block: two loads to read, no call, nothing to allocate
// when a thread starts.
//
// The system sets the slots of a new thread to 0, so a slot holds the value with the bits of its initial value flipped: 0 is the initial value.
// The numbers are allocated by constructors of priority 101, before anything of ours runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace hakozuna::os {

// The number of a new slot. A process that has given away all 64 cannot be served: 0 then, and have_all_thread_slots() is false for good.
size_t allocate_thread_slot();
bool have_all_thread_slots();

template <class T, T kInitial>
class ThreadSlot {
 public:
  constexpr ThreadSlot() = default;
  ThreadSlot(const ThreadSlot&) = delete;

  void allocate() { slot_ = allocate_thread_slot(); }

  operator T() const { return from_bits(read() ^ to_bits(kInitial)); }
  T operator->() const requires std::is_pointer_v<T> { return *this; }
  ThreadSlot& operator=(T value) {
    write(to_bits(value) ^ to_bits(kInitial));
    return *this;
  }
  ThreadSlot& operator|=(T bits) { return *this = static_cast<T>(*this | bits); }
  ThreadSlot& operator&=(T bits) { return *this = static_cast<T>(*this & bits); }

 private:
  static uintptr_t to_bits(T value) {
    if constexpr (std::is_pointer_v<T>) {
      return reinterpret_cast<uintptr_t>(value);
    } else {
      return static_cast<uintptr_t>(value);
    }
  }
  static T from_bits(uintptr_t bits) {
    if constexpr (std::is_pointer_v<T>) {
      return reinterpret_cast<T>(bits);
    } else {
      return static_cast<T>(bits);
    }
  }

  // 0x1480: where the slots begin in the block that gs points to. To the compiler the contents are part of slot_: it may keep them in a
  // register for as long as it may keep that.
  uintptr_t read() const {
    uintptr_t bits;
    asm("movq %%gs:0x1480(,%1,8), %0" : "=r"(bits) : "r"(slot_), "m"(slot_));
    return bits;
  }
  void write(uintptr_t bits) { asm volatile("movq %1, %%gs:0x1480(,%2,8)" : "+m"(slot_) : "r"(bits), "r"(slot_)); }

  size_t slot_ = 0;  // below 64
};

}  // namespace hakozuna::os
