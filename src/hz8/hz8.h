// hz8: balanced and fail-closed. README.md has the idea; layout.h the data.
//
//   allocate ──> word of the bin has a free bit: hand it out
//            └─> allocate_slow ──> attend (queue, timers)      when fast_limit is 0
//                              ├─> medium class: allocate_medium
//                              ├─> large block                 above the classes
//                              └─> refill                      the bin's word is used up
//                                     ├─> another word of the current span
//                                     ├─> a partial span
//                                     ├─> collect the queue, then a partial span again
//                                     ├─> adopt an orphan
//                                     └─> carve a new span
//
//   deallocate ──> own span, nothing pending: set the free bit ──> free_event   when the countdown ends
//              └─> deallocate_slow ──> own span by another way (other chunk of the span; pending bits)
//                                  ├─> remote free: pending bit, queue
//                                  ├─> large block
//                                  └─> misuse, or a pointer that is not ours
#pragma once

#include <array>

#include "common/core/line.h"
#include "hz8/spans.h"

namespace hakozuna::hz8 {

// The heap of a thread that has none yet: it owns nothing, and its limit sends every allocation to the slow path.
[[gnu::visibility("hidden")]] extern Heap no_heap;

// The thread's heap; &no_heap before its first allocation and after its exit handler.
extern constinit HAKOZUNA_THREAD_LOCAL os::ThreadLocal<Heap*, &no_heap, struct ThreadHeapName> thread_heap;

[[gnu::noinline]] void* allocate_slow(size_t size) noexcept;
[[gnu::noinline]] void deallocate_slow(void* block) noexcept;
[[gnu::noinline]] void deallocate_sized_slow(void* block, size_t size) noexcept;
[[gnu::noinline]] void free_event(Span* span) noexcept;
[[gnu::noinline]] size_t usable_size_slow(const void* address) noexcept;

inline Span* span_record(char* base, size_t offset) {
  return reinterpret_cast<Span*>(base + (offset >> mem::kChunkShift) * sizeof(Span));
}

// Where a request of a small size is served. Table of offsets, not of classes: saves the scaling.
inline constexpr auto kSmallBinOffsets = [] {
  std::array<uint16_t, mem::kSmallClassTable.size()> table{};
  for (size_t i = 0; i < table.size(); ++i) {
    table[i] = static_cast<uint16_t>(mem::kSmallClassTable[i] * sizeof(Bin));
  }
  return table;
}();
inline Bin* small_bin(Heap* heap, size_t size) {
  const size_t offset = kSmallBinOffsets[(size + mem::kMinAlignment - 1) / mem::kMinAlignment];
  return reinterpret_cast<Bin*>(reinterpret_cast<char*>(heap->bins) + offset);
}

// The lowest free slot of the bin's word; null if there is none.
[[gnu::always_inline]] inline void* take_slot(Bin& bin) {
  uint64_t* const word = bin.word;
  const uint64_t bits = *word;
  if (bits == 0) [[unlikely]] return nullptr;
  *word = bits & (bits - 1);
  char* const slot = bin.word_base + lowest_bit(bits) * bin.slot_bytes;
  if (!slot) __builtin_unreachable();  // spares the callers, operator new among them, a test
  return slot;
}

class Hz8 {
 public:
  static constexpr const char* kName = "hz8";

  static void* allocate(size_t size) noexcept {
    Heap* const heap = thread_heap;
    if (size <= heap->fast_limit.load(std::memory_order_relaxed)) [[likely]] {
      if (void* const slot = take_slot(*small_bin(heap, size))) [[likely]] return slot;
    }
    return allocate_slow(size);
  }

  static void deallocate(void* block) noexcept {
    if (!deallocate_own(block, 0)) [[unlikely]] deallocate_slow(block);
  }

  // A size is checked only against what the block holds: blocks shrunk in place and aligned ones are larger than their size's class.
  static void deallocate_sized(void* block, size_t size) noexcept {
    if (!deallocate_own(block, size)) [[unlikely]] deallocate_sized_slow(block, size);
  }

  static void* allocate_zeroed(size_t size) noexcept;
  static void* allocate_aligned(size_t alignment, size_t size) noexcept;
  static void* resize_without_copy(void* block, size_t size) noexcept;
  // Some programs ask for each block they allocate or free.
  static size_t usable_size(const void* address) noexcept {
    const OwnSlot own = find_own_slot(address);
    if (!own.span || is_free(own.span, own.slot)) [[unlikely]] return usable_size_slow(address);
    return own.span->slot_bytes;
  }
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
  struct OwnSlot {
    Span* span;
    uint64_t slot;
  };

  // The slot that starts at the address, if it is one of a span of this thread and nothing at all is special; null if not.
  [[gnu::always_inline]] static OwnSlot find_own_slot(const void* address) noexcept {
    char* const base = mem::primary_base;
    const size_t offset = static_cast<size_t>(static_cast<const char*>(address) - base);
    if (offset >= mem::primary_bytes) [[unlikely]] return {nullptr, 0};
    Span* const span = span_record(base, offset);
    // relaxed: equal to our heap only if this thread wrote it. Pending bits must be looked at before a free bit is set.
    const uintptr_t other_owner = reinterpret_cast<uintptr_t>(span->owner.load(std::memory_order_relaxed)) ^
                                  reinterpret_cast<uintptr_t>(static_cast<Heap*>(thread_heap));
    if ((other_owner | span->pending.load(std::memory_order_relaxed)) != 0) [[unlikely]] return {nullptr, 0};
    const mem::SlotPosition at = mem::slot_position(
        static_cast<size_t>(static_cast<const char*>(address) - span->first_slot), span->reciprocal);
    if (!at.exact) [[unlikely]] return {nullptr, 0};
    return {span, at.slot};
  }

  // Frees a block of a span of this thread; false, and nothing is done, if anything at all is special. The test of `size` folds away
  // where it is 0.
  [[gnu::always_inline]] static bool deallocate_own(void* block, size_t size) noexcept {
    const OwnSlot own = find_own_slot(block);
    if (!own.span) [[unlikely]] return false;
    if (size > own.span->slot_bytes) [[unlikely]] return false;
    uint64_t* const word = own.span->free_bits + own.slot / 64;
    uint64_t bits = *word;
    if (arch::test_and_set_bit(bits, own.slot)) [[unlikely]] return false;
    *word = bits;
    if (--own.span->countdown == 0) [[unlikely]] free_event(own.span);
    return true;
  }
};

}  // namespace hakozuna::hz8
