// hz3: local-heavy, lookup first. README.md has the idea; layout.h the data.
//
//   allocate ──> the bin has a block: pop it
//            └─> allocate_slow ──> attend (stash, timers)      when fast_limit is 0
//                              ├─> large block                 above the classes
//                              └─> refill                      the bin is empty
//                                     ├─> collect the stash: the bin may have blocks then
//                                     ├─> free slots of a partial span
//                                     ├─> adopt an orphan
//                                     └─> carve a new span
//
//   deallocate ──> the door is mine: push the block on its bin ──> overflow   the bin is too full: half goes to the spans
//              └─> deallocate_slow ──> another heap's: into its outbox ──> send, when that is full
//                                  ├─> an orphan's: into its span
//                                  ├─> large block
//                                  └─> misuse, or a pointer that is not ours
#pragma once

#include "common/core/line.h"
#include "hz3/layout.h"

namespace hakozuna::hz3 {

// The heap of a thread that has none yet: it owns nothing, and its limit sends every allocation to the slow path.
[[gnu::visibility("hidden")]] extern Heap no_heap;

// The thread's heap; &no_heap before its first allocation and after its exit handler.
extern constinit HAKOZUNA_THREAD_LOCAL os::ThreadLocal<Heap*, &no_heap, struct ThreadHeapName> thread_heap;

[[gnu::noinline]] void* allocate_slow(size_t size) noexcept;
[[gnu::noinline]] void deallocate_slow(void* block) noexcept;
[[gnu::noinline]] void overflow(Door* door) noexcept;

// The youngest block of the bin; null if there is none.
[[gnu::always_inline]] inline void* pop(Bin& bin) {
  void* block = bin.head;
  arch::keep_for_return(block);
  if (!block) [[unlikely]] return nullptr;
  bin.head = next_of(block);
  ++bin.room;
  return block;
}

// False: the bin is too full now.
[[gnu::always_inline]] inline bool push(Bin& bin, void* block) {
  next_of(block) = bin.head;
  bin.head = block;
  return --bin.room >= 0;
}

class Hz3 {
 public:
  static constexpr const char* kName = "hz3";

  static void* allocate(size_t size) noexcept {
    Heap* const heap = thread_heap;
    if (!arch::is_above(size, heap->fast_limit)) [[likely]] {
      if (void* const block = pop(heap->bins.of_size(size))) [[likely]] return block;
    }
    return allocate_slow(size);
  }

  static void deallocate(void* block) noexcept {
    const size_t offset = static_cast<size_t>(static_cast<char*>(block) - mem::primary_base);
    if (arch::is_below(offset, doors_cover)) [[likely]] {
      Door* const door = door_table[offset >> mem::kChunkShift].load(std::memory_order_relaxed);
      if (arch::is_equal(arch::thread_pointer(), door->thread)) [[likely]] {
        if (!push(Bins::behind(door), block)) [[unlikely]] overflow(door);
        return;
      }
    }
    deallocate_slow(block);
  }

  // The size is a hint that is not needed.
  static void deallocate_sized(void* block, size_t) noexcept { deallocate(block); }

  static void* allocate_zeroed(size_t size) noexcept;
  static void* allocate_aligned(size_t alignment, size_t size) noexcept;
  static void* resize_without_copy(void* block, size_t size) noexcept;
  static size_t usable_size(const void* address) noexcept;
  static size_t good_size(size_t size) noexcept;
  static Classification classify(const void* address) noexcept;
  static void thread_flush() noexcept;
  static void purge() noexcept;
  static size_t trim(size_t keep_bytes) noexcept;
  static void fork_prepare() noexcept;
  static void fork_parent() noexcept;
  static void fork_child() noexcept;
  static void collect_statistics(hakozuna_statistics& statistics) noexcept;
  static bool collect_class_statistics(size_t index, hakozuna_class_statistics& statistics) noexcept;
};

}  // namespace hakozuna::hz3
