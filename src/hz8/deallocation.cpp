#include "hz8/deallocation.h"

#include "common/core/diagnostics.h"
#include "common/core/large.h"
#include "hz8/allocation.h"
#include "hz8/heaps.h"
#include "hz8/hz8.h"
#include "hz8/reclaim.h"
#include "hz8/remote.h"
#include "hz8/spans.h"

namespace hakozuna::hz8 {
namespace {

// Slow events between looks at the clock: as many spans may become empty unnoticed by the timers.
constexpr uint32_t kEventsPerLook = 16;

// The same for frees of other threads' blocks, whose tokens have a timer of their own (hold).
constexpr uint32_t kRemoteFreesPerLook = 64;

void report(core::Misuse misuse, const char* operation, const void* address) {
  core::report_misuse(Hz8::kName, misuse, operation, address, Hz8::classify(address));
}

// Frees a slot of a span of another thread, or of none.
void free_of_other(Span* span, uint64_t slot, void* block, const char* operation) {
  const uint32_t size_class = span->size_class;  // before: afterwards the span may be given back
  if (!remote_free(span, slot)) {
    report(core::Misuse::kDoubleFree, operation, block);
    return;
  }
  Heap* const heap = thread_heap;
  if (heap != &no_heap) remember_remote_free(heap, span, size_class);
  count_event(heap, kRemoteFreesPerLook);
}

// The usual case of it, without looking for the region: false, and nothing is done, if the block is not in the first chunk of a span that another
// thread owns.
bool free_of_other_thread(void* block, const char* operation) {
  char* const base = mem::primary_base;
  const size_t offset = static_cast<size_t>(static_cast<char*>(block) - base);
  if (offset >= mem::primary_bytes) return false;
  Span* const span = span_record(base, offset);
  const Heap* const owner = span->owner.load(std::memory_order_relaxed);
  if (!owner || owner == thread_heap) return false;
  const mem::SlotPosition at = mem::slot_position(
      static_cast<size_t>(static_cast<char*>(block) - span->first_slot), span->reciprocal);
  if (!at.exact) return false;
  free_of_other(span, at.slot, block, operation);
  return true;
}

// A free that the fast path refused.
void deallocate_any(void* block, const char* operation) {
  const Position at = locate(block);
  if (at.large) {
    core::deallocate_large(Hz8::kName, at.large, block, operation);
    count_event(thread_heap, kEventsPerLook);
    return;
  }
  if (!at.span) {
    if (mem::chunk_supply.in_reserved_space(block)) {
      report(core::Misuse::kMetadataPointer, operation, block);
    } else {
      os::underlying_free(block);
    }
    return;
  }
  Span* const span = at.span;
  if (!at.exact) {
    report(core::misuse_of(Hz8::classify(block).verdict), operation, block);
    return;
  }
  if (span->owner.load(std::memory_order_relaxed) != thread_heap) {
    free_of_other(span, at.slot, block, operation);
    return;
  }
  // A chunk of our span that is not its first, or a span with pending bits.
  if (is_pending(span, at.slot) || !set_free_bit(span, at.slot)) {
    report(core::Misuse::kDoubleFree, operation, block);
    return;
  }
  if (--span->countdown == 0) free_event(span);
}

}  // namespace

void deallocate_slow(void* block) noexcept {
  if (block && !free_of_other_thread(block, "free")) deallocate_any(block, "free");
}

void deallocate_sized_slow(void* block, size_t size) noexcept {
  if (!block) return;
  const Classification found = Hz8::classify(block);
  if (found.verdict == Verdict::kValid && size > found.usable_bytes) {
    core::report_misuse(Hz8::kName, core::Misuse::kWrongSize, "free_sized", block, found);
    return;
  }
  deallocate_any(block, "free_sized");
}

void free_event(Span* span) noexcept {
  Heap* const heap = thread_heap;
  switch (span->state) {
    case SpanState::kFull:
      heap->full.remove(span);
      place_span(heap, span);
      break;
    case SpanState::kPartial: {
      const uint32_t allocated = allocated_slots(span);
      if (allocated == 0) {
        heap->partial[span->size_class].remove(span);
        release_span(heap, span);
      } else {
        span->countdown = allocated;
        return;  // nothing happened
      }
      break;
    }
    default:
      span->countdown = kQuietFrees;
      if (heap->tick_due != 0) Care::look_at_clock(heap);
      return;
  }
  heap->attention_skip.store(0, std::memory_order_relaxed);  // what just became free is to be looked at in time
  count_event(heap, kEventsPerLook);
}

Position locate(const void* address) {
  Position at;
  at.span = find_span(address);
  if (!at.span) {
    at.large = mem::large_blocks.find(address);
    return at;
  }
  const mem::SlotPosition position = mem::slot_position(
      static_cast<size_t>(static_cast<const char*>(address) - at.span->first_slot), at.span->reciprocal);
  at.exact = position.exact && position.slot < at.span->slot_count;
  at.slot = position.slot;
  return at;
}

Classification Hz8::classify(const void* address) noexcept {
  Classification result;
  const Position at = locate(address);
  const uintptr_t bits = reinterpret_cast<uintptr_t>(address);
  const Verdict inside =
      is_aligned(bits, mem::kMinAlignment) ? Verdict::kInterior : Verdict::kMisaligned;
  if (at.large) return core::classify_large(at.large, address);
  if (!at.span) {
    result.verdict = mem::chunk_supply.in_reserved_space(address) ? Verdict::kMetadata : Verdict::kMiss;
    return result;
  }
  const Span* const span = at.span;
  result.span = run_of(span);
  result.usable_bytes = span->slot_bytes;
  result.owner = span->owner.load(std::memory_order_relaxed);
  if (at.exact) {
    // A racing read of another thread's word: exact for a block that nobody frees meanwhile.
    const uint64_t word = racing_read(span->free_bits[at.slot / 64]);
    const bool is_free = ((word >> (at.slot % 64)) & 1) != 0 || is_pending(span, at.slot);
    result.verdict = is_free ? Verdict::kFreed : Verdict::kValid;
  } else {
    const char* const end = span->first_slot + size_t{span->slot_count} * span->slot_bytes;
    result.verdict = address < span->first_slot || address >= end ? Verdict::kTailSlack : inside;
  }
  return result;
}

size_t usable_size_slow(const void* address) noexcept {
  const Classification found = Hz8::classify(address);
  return found.verdict == Verdict::kValid ? found.usable_bytes : 0;
}

size_t Hz8::good_size(size_t size) noexcept {
  return size <= mem::kMaxSlotBytes ? mem::slot_bytes_of(mem::class_of(size))
                                    : mem::LargeBlocks::mapping_bytes(size);
}

}  // namespace hakozuna::hz8
