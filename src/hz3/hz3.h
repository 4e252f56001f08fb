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
//   deallocate ──> the tag is my heap's: push the block on its bin ──> overflow   the bin is too full: half goes to the spans
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
[[gnu::tls_model("initial-exec"), gnu::visibility("hidden")]] extern constinit thread_local Heap* thread_heap;

[[gnu::noinline]] void* allocate_slow(size_t size) noexcept;
[[gnu::noinline]] void deallocate_slow(void* block) noexcept;
[[gnu::noinline]] void overflow(uint32_t size_class) noexcept;

// The youngest block of the bin; null if there is none.
[[gnu::always_inline]] inline void* pop(Heap* heap, uint32_t size_class) {
  void* const block = heap->head[size_class];
  if (!block) [[unlikely]] return nullptr;
  heap->head[size_class] = next_of(block);
  ++heap->room[size_class];
  return block;
}

// False: the bin is too full now.
[[gnu::always_inline]] inline bool push(Heap* heap, uint32_t size_class, void* block) {
  next_of(block) = heap->head[size_class];
  heap->head[size_class] = block;
  return --heap->room[size_class] >= 0;
}

class Hz3 {
 public:
  static constexpr const char* kName = "hz3";

  static void* allocate(size_t size) noexcept {
    Heap* const heap = thread_heap;
    if (size <= heap->fast_limit.load(std::memory_order_relaxed)) [[likely]] {
      if (void* const block = pop(heap, heap->class_of_size[(size + mem::kMinAlignment - 1) / mem::kMinAlignment])) [[likely]] {
        return block;
      }
    }
    return allocate_slow(size);
  }

  static void deallocate(void* block) noexcept {
    const size_t offset = static_cast<size_t>(static_cast<char*>(block) - mem::primary_base);
    if (offset < mem::primary_bytes) [[likely]] {
      Heap* const heap = thread_heap;
      const uint32_t size_class = tag_table[offset >> mem::kChunkShift].load(std::memory_order_relaxed) ^ heap->tag;
      if (size_class < mem::kClassCount) [[likely]] {
        if (!push(heap, size_class, block)) [[unlikely]] overflow(size_class);
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
