// A line for the tests: README.md.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "common/base/bits.h"
#include "common/core/line.h"

namespace hakozuna::bump {

// In front of every block.
struct alignas(16) Header {
  uint32_t state;     // kLive or kFreed; anything else is no header
  uint32_t order;     // the slot has 2^order bytes
  uint64_t from_slot; // bytes from the slot's start to the block: 16, more for an aligned block

  static constexpr uint32_t kLive = 0x6c697665;
  static constexpr uint32_t kFreed = 0x66726565;
};
static_assert(sizeof(Header) == 16);

struct FreeSlot {
  Header header;
  FreeSlot* next;
};

inline constexpr uint32_t kMaxOrder = 40;

// A thread's freed slots. A heap is never deleted; idle ones wait for the next thread.
struct Heap {
  FreeSlot* free_slots[kMaxOrder + 1];  // by order
  Heap* next_idle;
  Heap* next_known;                     // the list of all heaps
  // Usable bytes allocated minus freed through this heap, wrapping; the sum over all heaps is what is live. Written by the owner, read by
  // statistics: relaxed.
  std::atomic<uint64_t> live_bytes;

  void add_live(uint64_t bytes) {
    live_bytes.store(live_bytes.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
  }
};

extern constinit thread_local Heap* this_heap;  // null until the thread's first slow path

class Bump {
 public:
  static constexpr const char* kName = "bump";

  static void* allocate(size_t size) noexcept {
    Heap* const heap = this_heap;
    if (heap && size <= kFastBytes) [[likely]] {
      const uint32_t order = order_of(size);
      FreeSlot* const slot = heap->free_slots[order];
      if (slot) [[likely]] {
        heap->free_slots[order] = slot->next;
        return hand_out(*heap, slot, order);
      }
    }
    return allocate_slow(size);
  }

  static void deallocate(void* block) noexcept {
    Heap* const heap = this_heap;
    Header* const header = static_cast<Header*>(block) - 1;
    if (heap && could_be_block(block) && header->state == Header::kLive) [[likely]] {
      take_back(*heap, header);
      return;
    }
    deallocate_slow(block);
  }

  static void deallocate_sized(void* block, size_t) noexcept { deallocate(block); }

  static void* allocate_zeroed(size_t size) noexcept;
  static void* allocate_aligned(size_t alignment, size_t size) noexcept;
  static void* resize_without_copy(void* block, size_t size) noexcept;
  static size_t usable_size(const void* address) noexcept;
  static size_t good_size(size_t size) noexcept;
  static Classification classify(const void* address) noexcept;
  static void thread_flush() noexcept;
  static void purge() noexcept {}
  static size_t trim(size_t keep_bytes) noexcept;
  static void fork_prepare() noexcept;
  static void fork_parent() noexcept;
  static void fork_child() noexcept;
  static void collect_statistics(hakozuna_statistics& statistics) noexcept;
  static bool collect_class_statistics(size_t index, hakozuna_class_statistics& statistics) noexcept;

 private:
  static constexpr size_t kFastBytes = size_t{1} << 20;  // keeps order_of() from overflowing

  // The order of the slots for a block of `size`: size + 16 rounded up to a power of two.
  static constexpr uint32_t order_of(size_t size) {
    return log2_floor((size + sizeof(Header) - 1) | (sizeof(FreeSlot) - 1)) + 1;
  }

  static void* hand_out(Heap& heap, FreeSlot* slot, uint32_t order) {
    slot->header = {Header::kLive, order, sizeof(Header)};
    heap.add_live(usable_bytes(slot->header));
    void* const block = &slot->header + 1;
    if (!block) __builtin_unreachable();  // operator new need not test the fast path's result
    return block;
  }

  static void take_back(Heap& heap, Header* header) {
    const uint32_t order = header->order;
    heap.add_live(-usable_bytes(*header));
    header->state = Header::kFreed;  // stays behind where the block was aligned
    FreeSlot* const slot = slot_of(header);
    slot->header = {Header::kFreed, order, sizeof(Header)};
    slot->next = heap.free_slots[order];
    heap.free_slots[order] = slot;
  }

  static FreeSlot* slot_of(Header* header) {
    return reinterpret_cast<FreeSlot*>(reinterpret_cast<char*>(header + 1) - header->from_slot);
  }
  static uint64_t usable_bytes(const Header& header) {
    return (uint64_t{1} << header.order) - header.from_slot;
  }

  // Does the address lie where a block may, so that a header before it can be read?
  static bool could_be_block(const void* address) {
    const uintptr_t offset = reinterpret_cast<uintptr_t>(address) - base_ - sizeof(Header);
    return offset < used_bytes_.load(std::memory_order_relaxed) && offset % 16 == 0;
  }

  static Heap* heap_of_this_thread();
  static void leave_heap(void* heap);
  static FreeSlot* take_slot(Heap& heap, uint32_t order);
  static FreeSlot* cut_slot(uint32_t order);
  [[gnu::cold, gnu::noinline]] static void* allocate_slow(size_t size) noexcept;
  [[gnu::cold, gnu::noinline]] static void deallocate_slow(void* block) noexcept;

  // The region; written under the lock. base_ is set once, before the first block exists.
  static inline constinit uintptr_t base_ = 0;
  static inline constinit size_t reserved_bytes_ = 0;
  static inline constinit size_t committed_bytes_ = 0;
  static inline constinit std::atomic<size_t> used_bytes_{0};  // relaxed: who has a block has seen it
};

}  // namespace hakozuna::bump
