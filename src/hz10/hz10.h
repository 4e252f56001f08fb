// hz10: speed. README.md has the idea; layout.h the data.
//
//   allocate ──> the bin has a block: pop it
//            └─> allocate_slow ──> medium class: pop
//                              ├─> attend (timers)             when fast_limit is 0
//                              ├─> large block                 above the classes
//                              └─> refill the bin from the depot ──> an open span
//                                                                └─> a new span
//
//   deallocate ──> push on the bin of the chunk's class, whoever allocated the block
//              └─> deallocate_slow ──> the bin is full: larger bin, or spill half of it to the depot ──> an empty span is given back
//                                  ├─> a thread without a heap: to the depot at once
//                                  ├─> large block
//                                  └─> misuse, or a pointer that is not ours
#pragma once

#include "common/core/line.h"
#include "hz10/layout.h"

namespace hakozuna::hz10 {

// The heap of a thread that has none yet: it owns nothing, and its limit sends every allocation to the slow path.
[[gnu::visibility("hidden")]] extern Heap no_heap;

// The thread's heap; &no_heap before its first allocation or free and after its exit handler.
extern constinit HAKOZUNA_THREAD_LOCAL os::ThreadLocal<Heap*, &no_heap, struct ThreadHeapName> thread_heap;

[[gnu::noinline]] void* allocate_slow(size_t size, Heap* heap) noexcept;
[[gnu::noinline]] void deallocate_slow(void* block) noexcept;

inline ChunkEntry* chunk_entry(char* base, size_t offset) {
  return reinterpret_cast<ChunkEntry*>(base) + (offset >> mem::kChunkShift);
}

inline Bin* bin_at(Heap* heap, size_t offset) {
  return reinterpret_cast<Bin*>(reinterpret_cast<char*>(heap->bins) + offset);
}

// The same to the compiler's eyes unrelated to an earlier bin_at() of the same offset: it then uses an addressing mode each time, where it would
// otherwise spend an instruction on the sum.
[[gnu::always_inline]] inline Bin* bin_again(Heap* heap, size_t& offset) {
  asm("" : "+r"(offset));
  return bin_at(heap, offset);
}

inline size_t small_bin_offset(const Heap* heap, size_t size) {
  size_t index = (size + mem::kMinAlignment - 1) / mem::kMinAlignment;
  asm("" : "+r"(index));  // where the size is a constant, the compiler would warn of an index that is_above() does not let pass
  return heap->small_bins[index];
}

// The latest block of a bin; null if it is empty.
[[gnu::always_inline]] inline void* pop(Heap* heap, size_t bin_offset) {
  void* const block = bin_at(heap, bin_offset)->top[-1];
  if (!block) [[unlikely]] return nullptr;
  arch::step_down(bin_again(heap, bin_offset)->top);
  return block;
}

class Hz10 {
 public:
  static constexpr const char* kName = "hz10";

  static void* allocate(size_t size) noexcept {
    Heap* const heap = thread_heap;
    if (!arch::is_above(size, heap->fast_limit)) [[likely]] {
      if (void* const block = pop(heap, small_bin_offset(heap, size))) [[likely]] return block;
    }
    return allocate_slow(size, heap);
  }

  static void deallocate(void* block) noexcept {
    if (!push(block)) [[unlikely]] deallocate_slow(block);
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

 private:
  // Puts a block on the bin of its class; false, and nothing is done, if anything at all is special. What is in no span has the bin that takes
  // nothing.
  [[gnu::always_inline]] static bool push(void* block) noexcept {
    char* const base = mem::primary_base;
    const size_t offset = static_cast<size_t>(static_cast<char*>(block) - base);
    if (offset >= mem::primary_bytes) [[unlikely]] return false;
    Heap* const heap = thread_heap;
    size_t bin = racing_read(chunk_entry(base, offset)->bin);
    void** const top = bin_at(heap, bin)->top;
    if (top == bin_again(heap, bin)->limit) [[unlikely]] return false;
    if (top[-1] == block) [[unlikely]] return false;  // freed twice
    *top = block;
    arch::step_up(bin_again(heap, bin)->top);
    return true;
  }
};

}  // namespace hakozuna::hz10
