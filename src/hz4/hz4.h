// hz4: remote-free-first, message passing. README.md has the idea; layout.h the data.
//
//   allocate ──> the bin has a block: take it
//            └─> allocate_slow ──> attend (messages, timers)     when fast_limit is 0
//                              ├─> large block                   above the classes
//                              └─> refill                        the bin is empty
//                                     ├─> the reserve
//                                     ├─> messages that have arrived
//                                     ├─> a batch of the exchange
//                                     ├─> free blocks of own spans, then of an adopted orphan
//                                     └─> carve
//
//   deallocate ──> the bin of the chunk has room: put it there, whoever owns the span
//              └─> deallocate_slow ──> the bin is full ──> it becomes the reserve
//                                  │                   └─> the reserve goes to the exchange, or home if that is full
//                                  ├─> large block
//                                  └─> misuse, or a pointer that is not ours
//
//   home: blocks sorted by the heap that owns their spans ──> own spans
//                                                         ├─> a message for each other heap
//                                                         └─> orphans
#pragma once

#include "common/core/line.h"
#include "hz4/layout.h"

namespace hakozuna::hz4 {

// The heap of a thread that has none: its bins are empty and have no room, and its limit sends every allocation to the slow path.
[[gnu::visibility("hidden")]] extern Heap no_heap;

// The thread's heap; &no_heap before its first block and after its exit handler.
extern constinit HAKOZUNA_THREAD_LOCAL os::ThreadLocal<Heap*, &no_heap, struct ThreadHeapName> thread_heap;

[[gnu::noinline]] void* allocate_slow(size_t size) noexcept;
[[gnu::noinline]] void deallocate_slow(void* block) noexcept;

inline Span* span_record(char* base, size_t offset) {
  return reinterpret_cast<Span*>(base + (offset >> mem::kChunkShift) * sizeof(Span));
}

// Makes the compiler forget what it knows of an index. It would else compute `array + index` once for a load and a store, in an instruction of its
// own, which an addressing mode does for nothing.
[[gnu::always_inline]] inline size_t same_index(size_t index) {
  asm("" : "+r"(index));
  return index;
}

// The first block of a bin; null if there is none.
[[gnu::always_inline]] inline void* take(Heap* heap, size_t bin) {
  void* block = heap->heads[bin];
  arch::keep_for_return(block);
  if (!block) [[unlikely]] return nullptr;
  bin = same_index(bin);
  heap->heads[bin] = static_cast<Block*>(block)->next;
  ++heap->rooms[bin];
  return block;
}

class Hz4 {
 public:
  static constexpr const char* kName = "hz4";

  static void* allocate(size_t size) noexcept {
    Heap* const heap = thread_heap;
    if (!arch::is_above(size, heap->fast_limit)) [[likely]] {
      if (void* const block = take(heap, heap->small_bin(size))) [[likely]] return block;
    }
    return allocate_slow(size);
  }

  static void deallocate(void* block) noexcept {
    if (!put(block)) [[unlikely]] deallocate_slow(block);
  }

  // The size is a hint that is of no use: the chunk says it all.
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
  // Puts a block into its bin; false, and nothing is done, if anything at all is special. Bin 0 has never room: it stands for what is not ours.
  [[gnu::always_inline]] static bool put(void* address) noexcept {
    char* const base = mem::primary_base;
    const size_t offset = static_cast<size_t>(static_cast<char*>(address) - base);
    if (offset >= mem::primary_bytes) [[unlikely]] return false;
    size_t bin = span_record(base, offset)->bin;
    Heap* const heap = thread_heap;
    uint32_t room = 0;
    if (__builtin_sub_overflow(heap->rooms[bin], 1u, &room)) [[unlikely]] return false;
    Block* const block = static_cast<Block*>(address);
    Block* const head = heap->heads[bin];
    if (head == block) [[unlikely]] return false;  // freed twice
    bin = same_index(bin);
    block->next = head;
    heap->heads[bin] = block;
    heap->rooms[bin] = room;
    return true;
  }
};

}  // namespace hakozuna::hz4
