// The slow paths of deallocation, and what stands at an address.
#include "common/core/diagnostics.h"
#include "common/core/large.h"
#include "hz10/bins.h"
#include "hz10/depots.h"
#include "hz10/heaps.h"

namespace hakozuna::hz10 {
namespace {

void report(core::Misuse misuse, const void* address) {
  core::report_misuse(Hz10::kName, misuse, "free", address, Hz10::classify(address));
}

// The heap to free into; null after the exit handler, for a block then goes to its span at once, and without memory.
Heap* heap_to_free_into() {
  if (thread_heap != &no_heap) return thread_heap;
  return core::exit_handler_has_run ? nullptr : Care::own_heap();
}

void deallocate_in_span(Span* span, void* block) {
  const mem::SlotPosition at = position_in(span, block);
  if (!at.exact) return report(core::misuse_of(Hz10::classify(block).verdict), block);
  if (is_free(span, at.slot)) return report(core::Misuse::kDoubleFree, block);
  const uint32_t size_class = span->size_class;
  Heap* const heap = heap_to_free_into();
  if (!heap) return put_blocks(nullptr, size_class, &block, 1);
  Bin& bin = bin_of(heap, size_class);
  if (bin.top[-1] == block) return report(core::Misuse::kDoubleFree, block);
  if (bin.top == bin.limit) make_room(heap, size_class);
  *bin.top++ = block;
}

}  // namespace

void deallocate_slow(void* block) noexcept {
  if (!block) return;
  if (Span* const span = find_span(block)) return deallocate_in_span(span, block);
  if (mem::LargeBlock* const large = mem::large_blocks.find(block)) {
    core::deallocate_large(Hz10::kName, large, block, "free");
    if (thread_heap != &no_heap) count_spill(thread_heap);
    return;
  }
  if (mem::chunk_supply.in_reserved_space(block)) return report(core::Misuse::kMetadataPointer, block);
  os::underlying_free(block);
}

// A block in somebody's bin is "valid": only its thread knows of it. Exact for all others.
Classification Hz10::classify(const void* address) noexcept {
  Classification result;
  const Span* const span = find_span(address);
  if (!span) {
    if (const mem::LargeBlock* const large = mem::large_blocks.find(address)) return core::classify_large(large, address);
    result.verdict = mem::chunk_supply.in_reserved_space(address) ? Verdict::kMetadata : Verdict::kMiss;
    return result;
  }
  result.span = run_of(span);
  result.usable_bytes = span->slot_bytes;
  const mem::SlotPosition at = position_in(span, address);
  if (at.exact) {
    result.verdict = is_free(span, at.slot) ? Verdict::kFreed : Verdict::kValid;
  } else if (address < span->first_slot || at.slot >= span->slot_count) {
    result.verdict = Verdict::kTailSlack;
  } else {
    result.verdict = is_aligned(reinterpret_cast<uintptr_t>(address), mem::kMinAlignment) ? Verdict::kInterior : Verdict::kMisaligned;
  }
  return result;
}

size_t Hz10::usable_size(const void* address) noexcept {
  const Classification found = classify(address);
  return found.verdict == Verdict::kValid ? found.usable_bytes : 0;
}

size_t Hz10::good_size(size_t size) noexcept {
  return size <= mem::kMaxSlotBytes ? mem::slot_bytes_of(mem::class_of(size)) : mem::LargeBlocks::mapping_bytes(size);
}

}  // namespace hakozuna::hz10
