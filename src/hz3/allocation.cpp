// The slow paths of allocation.
#include <string.h>

#include "common/core/large.h"
#include "common/core/options.h"
#include "hz3/heaps.h"
#include "hz3/hz3.h"
#include "hz3/reclaim.h"
#include "hz3/span_access.h"

namespace hakozuna::hz3 {
namespace {

// Blocks of the stash sorted by one allocation that finds its bin empty: enough to find some of its class, few enough to bound its time.
constexpr uint32_t kCollectAtRefill = 128;

// Slow events between looks at the clock.
constexpr uint32_t kEventsPerLook = 64;

// A bin that had to be filled may hold more, up to as much as a small class's span.
constexpr size_t kFilledBytes = size_t{64} << 10;

struct Block {
  void* address;
  bool zeroed;
};

// A block of the class when its bin is empty, and as many more into the bin as are at hand. Null without memory.
Block refill(Heap* heap, uint32_t size_class) {
  core::count(heap->refills, 1);
  heap->refilled[size_class] = true;
  Bin& bin = heap->bin(size_class);
  if (2 * static_cast<size_t>(bin.bound) * kSizeClasses[size_class].slot_bytes <= kFilledBytes) {
    bin.room += bin.bound;
    bin.bound *= 2;
  }
  SpanAccess access(heap);
  if (heap->carried || heap->stash.load(std::memory_order_relaxed)) {
    access.collect(kCollectAtRefill, /*into_bins=*/true);
    if (void* const block = pop(bin)) return {block, false};
  }
  const Taken taken = access.refill(size_class);
  if (taken.rest_count != 0) {
    bin.head = taken.rest;
    bin.room -= static_cast<int32_t>(taken.rest_count);
  }
  return {taken.first, taken.zeroed};
}

// Before failing, everything of our own that could be of use.
[[gnu::cold, gnu::noinline]] Block refill_at_last(Heap* heap, uint32_t size_class) {
  Care::flush(heap);
  mem::large_blocks.purge(UINT64_MAX, 0);
  return refill(heap, size_class);
}

Block take(Heap* heap, uint32_t size_class) {
  if (void* const block = pop(heap->bin(size_class))) return {block, false};
  Block block = refill(heap, size_class);
  if (!block.address) [[unlikely]] block = refill_at_last(heap, size_class);
  return block;
}

[[gnu::noinline]] void* take_or_fail(Heap* heap, uint32_t size_class) {
  void* const block = take(heap, size_class).address;
  return block ? block : core::out_of_memory();
}

void* allocate_large(Heap* heap, size_t size, size_t alignment, bool zeroed) {
  count_event(heap, kEventsPerLook);
  return core::allocate_large(size, alignment, zeroed);
}

// The heap, having attended to what waits for it; null without memory.
Heap* attentive_heap() {
  Heap* const heap = own_heap();
  if (heap && Care::must_attend(heap)) Care::attend(heap);
  return heap;
}

[[gnu::noinline]] void* allocate_with_attention(size_t size) {
  Heap* const heap = attentive_heap();
  if (!heap) return core::out_of_memory();
  if (size > mem::kMaxSlotBytes) return allocate_large(heap, size, 1, /*zeroed=*/false);
  return take_or_fail(heap, mem::class_of(size));
}

}  // namespace

void* allocate_slow(size_t size) noexcept {
  Heap* const heap = thread_heap;
  if (size <= kFastLimit && Care::skip_attention(heap)) [[likely]] {
    // Armed, but the clock need not be looked at yet (or a bin is empty, which falls through). &no_heap never skips.
    if (void* const block = pop(heap->bins.of_size(size))) [[likely]] return block;
    return take_or_fail(heap, mem::class_of(size));
  }
  return allocate_with_attention(size);
}

void* Hz3::allocate_zeroed(size_t size) noexcept {
  if (size <= mem::kSmallLimit) {
    void* const block = allocate(size);
    // The whole slot: the usable size is zero too.
    if (block) memset(block, 0, mem::slot_bytes_of(mem::class_of(size)));
    return block;
  }
  Heap* const heap = attentive_heap();
  if (!heap) return core::out_of_memory();
  if (size > mem::kMaxSlotBytes) return allocate_large(heap, size, 1, /*zeroed=*/true);
  const uint32_t size_class = mem::class_of(size);
  const Block block = take(heap, size_class);
  if (!block.address) return core::out_of_memory();
  if (!block.zeroed) memset(block.address, 0, kSizeClasses[size_class].slot_bytes);
  return block.address;
}

void* Hz3::allocate_aligned(size_t alignment, size_t size) noexcept {
  if (alignment <= mem::kMinAlignment) return allocate(size);
  Heap* const heap = attentive_heap();
  if (!heap) return core::out_of_memory();
  const uint32_t size_class = mem::aligned_class_of(alignment, size, kSizeClasses);
  if (size_class == mem::kClassCount) return allocate_large(heap, size, alignment, /*zeroed=*/false);
  return take_or_fail(heap, size_class);
}

void* Hz3::resize_without_copy(void* block, size_t size) noexcept {
  if (const Door* const door = door_at(block); !is_closed(door)) {
    return size <= kSizeClasses[class_of_door(door)].slot_bytes ? block : nullptr;
  }
  if (size <= mem::kMaxSlotBytes) return nullptr;  // a shrink that leaves the large blocks
  mem::LargeBlock* const large = mem::large_blocks.find(block);
  return large ? core::resize_large(large, size) : nullptr;
}

}  // namespace hakozuna::hz3
