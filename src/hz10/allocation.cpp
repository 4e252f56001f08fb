// The slow paths of allocation.
#include <string.h>

#include "common/core/large.h"
#include "common/core/options.h"
#include "hz10/bins.h"
#include "hz10/depots.h"
#include "hz10/heaps.h"

namespace hakozuna::hz10 {
namespace {

// A block of the class; null and errno without memory.
void* allocate_of_class(Heap* heap, uint32_t size_class) {
  if (void* const block = pop(heap, bin_offset_of(size_class))) return block;
  if (!refill(heap, size_class)) {
    // Before failing, everything of our own that could be of use.
    Care::flush(heap);
    release_empty_spans();
    mem::large_blocks.purge(UINT64_MAX, 0);
    if (!refill(heap, size_class)) return core::out_of_memory();
  }
  return pop(heap, bin_offset_of(size_class));
}

// The heap, having attended to what waits for it; null without memory.
Heap* attentive_heap() {
  Heap* const heap = Care::own_heap();
  if (heap && Care::must_attend(heap)) Care::attend(heap);
  return heap;
}

[[gnu::noinline]] void* allocate_with_attention(size_t size) {
  Heap* const heap = attentive_heap();
  if (!heap) return core::out_of_memory();
  if (size <= mem::kMaxSlotBytes) return allocate_of_class(heap, mem::class_of(size));
  return core::allocate_large(size, 1, /*zeroed=*/false);
}

}  // namespace

void* allocate_slow(size_t size, Heap* heap) noexcept {
  if (size <= mem::kSmallLimit) {
    // Armed, but the clock need not be looked at yet; or the bin has run dry. &no_heap never skips.
    if (!Care::skip_attention(heap) && arch::is_above(1, heap->fast_limit)) return allocate_with_attention(size);
    const size_t bin = small_bin_offset(heap, size);
    if (void* const block = pop(heap, bin)) [[likely]] return block;
    return allocate_of_class(heap, size_class_of_bin(bin));
  }
  if (arch::is_above(1, heap->fast_limit) && !Care::skip_attention(heap)) return allocate_with_attention(size);
  if (size <= kMediumLimit) {
    const size_t bin = heap->medium_bins[(size - 1) / kMediumStep];
    if (void* const block = pop(heap, bin)) [[likely]] return block;
    return allocate_of_class(heap, size_class_of_bin(bin));
  }
  if (size <= mem::kMaxSlotBytes) return allocate_of_class(heap, mem::class_of(size));
  return allocate_with_attention(size);
}

void* Hz10::allocate_zeroed(size_t size) noexcept {
  if (size <= mem::kSmallLimit) {
    void* const block = allocate(size);
    // The whole slot: the usable size is zero too.
    if (block) memset(block, 0, mem::slot_bytes_of(mem::class_of(size)));
    return block;
  }
  Heap* const heap = attentive_heap();
  if (!heap) return core::out_of_memory();
  if (size > mem::kMaxSlotBytes) return core::allocate_large(size, 1, /*zeroed=*/true);
  const uint32_t size_class = mem::class_of(size);
  void* block = pop(heap, bin_offset_of(size_class));
  if (!block) {
    // Past the bin: the depot knows which of its slots are zero.
    const Slot slot = take_block(heap, size_class);
    if (slot.zeroed) return slot.address;
    block = slot.address ? slot.address : allocate_of_class(heap, size_class);
  }
  if (block) memset(block, 0, mem::slot_bytes_of(size_class));
  return block;
}

void* Hz10::allocate_aligned(size_t alignment, size_t size) noexcept {
  if (alignment <= mem::kMinAlignment) return allocate(size);
  Heap* const heap = attentive_heap();
  if (!heap) return core::out_of_memory();
  const uint32_t size_class = mem::aligned_class_of(alignment, size, kSizeClasses);
  if (size_class == mem::kClassCount) return core::allocate_large(size, alignment, /*zeroed=*/false);
  return allocate_of_class(heap, size_class);
}

void* Hz10::resize_without_copy(void* block, size_t size) noexcept {
  if (const Span* const span = find_span(block)) return size <= span->slot_bytes ? block : nullptr;
  if (size <= mem::kMaxSlotBytes) return nullptr;  // a shrink that leaves the large blocks
  mem::LargeBlock* const large = mem::large_blocks.find(block);
  return large ? core::resize_large(large, size) : nullptr;
}

}  // namespace hakozuna::hz10
