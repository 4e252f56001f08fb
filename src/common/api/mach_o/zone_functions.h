// What our malloc zone does, without the system's types: zone.cpp gives it to the system, the unit tests call it with a line of their own.
//
// Front supplies what is not a line's but the front door's:
//
//   void* resize(block, size)      realloc()
//   size_t page_bytes()
//   void statistics(hakozuna_statistics&)
//
// A zone is asked about and given blocks of other zones too: the system asks every zone for the size of a block, and a program may free into
// malloc_default_zone() what it got before that was us. size() and claims() answer for them; frees and resizes find the block's own
// zone, which is the line's way with every pointer that is not its own.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "common/base/bits.h"
#include "common/core/line.h"

namespace hakozuna::api {

template <class ServedLine, class Front>
class ZoneFunctions {
 public:
  // 0 for what is no live block of ours, which is how the system finds a block's zone.
  static size_t size(const void* block) { return ServedLine::usable_size(block); }

  // Whether the address lies in our memory, allocated or not.
  static bool claims(const void* address) { return ServedLine::classify(address).verdict != Verdict::kMiss; }

  static void* allocate(size_t size) { return ServedLine::allocate(size); }

  static void* allocate_zeroed(size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) return nullptr;
    return ServedLine::allocate_zeroed(bytes);
  }

  // As the system's header says, these pages are zero, other than valloc()'s.
  static void* allocate_pages(size_t size) {
    void* const block = ServedLine::allocate_aligned(Front::page_bytes(), size);
    if (block) std::memset(block, 0, size);
    return block;
  }

  static void* allocate_aligned(size_t alignment, size_t size) {
    if (!is_power_of_two(alignment) || alignment < sizeof(void*)) return nullptr;
    return ServedLine::allocate_aligned(alignment, size);
  }

  static void* resize(void* block, size_t size) { return Front::resize(block, size); }

  static void deallocate(void* block) { ServedLine::deallocate(block); }
  static void deallocate_sized(void* block, size_t size) { ServedLine::deallocate_sized(block, size); }

  // How many of `wanted` blocks there was memory for; they are the first of `blocks`.
  static unsigned allocate_batch(size_t size, void** blocks, unsigned wanted) {
    unsigned count = 0;
    while (count < wanted && (blocks[count] = ServedLine::allocate(size))) ++count;
    return count;
  }

  static void deallocate_batch(void** blocks, unsigned count) {
    for (unsigned i = 0; i < count; ++i) ServedLine::deallocate(blocks[i]);
  }

  // Returns the bytes that went back. `goal` is how many would do, 0 for all there are; all that is free is of no use to a machine without memory.
  static size_t relieve_pressure(size_t) { return ServedLine::trim(0); }

  // What allocate(size) would give; of what cannot be had, the size itself.
  static size_t good_size(size_t size) {
    const size_t good = ServedLine::good_size(size);
    return good < size ? size : good;
  }

  struct Statistics {
    size_t bytes_in_use;  // by usable size
    size_t bytes_mapped;  // what the line has from the system
  };
  static Statistics statistics() {
    hakozuna_statistics all = {};
    Front::statistics(all);
    return {static_cast<size_t>(all.live), static_cast<size_t>(all.mapped)};
  }

  // Around a fork, and around a look at all zones. The system's fork() calls them after the program's handlers, which may so allocate; nobody
  // allocates between them.
  static void lock() {
    ServedLine::fork_prepare();
    locked_.store(true, std::memory_order_relaxed);  // a hint for who inspects us while we stand still
  }
  static void unlock() {
    locked_.store(false, std::memory_order_relaxed);
    ServedLine::fork_parent();
  }
  static void reset_lock_in_child() {
    locked_.store(false, std::memory_order_relaxed);
    ServedLine::fork_child();
  }
  static bool is_locked() { return locked_.load(std::memory_order_relaxed); }

 private:
  static inline constinit std::atomic<bool> locked_{false};
};

}  // namespace hakozuna::api
