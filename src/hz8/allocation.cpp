#include "hz8/allocation.h"

#include <string.h>

#include "common/core/large.h"
#include "common/core/options.h"
#include "hz8/heaps.h"
#include "hz8/hz8.h"
#include "hz8/orphans.h"
#include "hz8/reclaim.h"
#include "hz8/remote.h"
#include "hz8/spans.h"

namespace hakozuna::hz8 {
namespace {

// Spans collected from the queue when a bin has run dry: enough to find free slots, few enough to bound one allocation's time.
constexpr uint32_t kCollectAtRefill = 16;

// Slow events between looks at the clock.
constexpr uint32_t kEventsPerLook = 64;

// A full span is partial again when one slot of this many is free: 6 % of its memory at most is out of sight.
constexpr uint32_t kFullSpanShare = 16;

// Points the bin at a word of its span.
void use_word(Bin& bin, Span* span, uint32_t index) {
  bin.word = span->free_bits + index;
  bin.word_base = span->first_slot + uint64_t{index} * 64 * span->slot_bytes;
  const uint64_t bit = uint64_t{1} << index;
  if (span->size_class < mem::kSmallClassCount && (span->unmarked & bit)) {
    span->unmarked &= ~bit;
    const uint32_t rest = span->slot_count - index * 64;
    mem::chunk_supply.mark_resident(bin.word_base, size_t{rest < 64 ? rest : 64} * span->slot_bytes);
  }
}

// The word to give slots out of next: the lowest that pays for coming here, else the lowest that has any. Words whose pages hold memory
// go before those that would take new pages.
bool use_next_word(Bin& bin, Span* span) {
  constexpr int kWorthwhile = 8;
  uint32_t resident = UINT32_MAX;
  uint32_t other = UINT32_MAX;
  for (uint32_t i = span->word_count(); i-- > 0;) {
    const uint64_t bits = span->free_bits[i];
    if (bits == 0) continue;
    if ((span->unmarked >> i) & 1) {
      other = i;
    } else if (resident == UINT32_MAX || std::popcount(bits) >= kWorthwhile) {
      resident = i;
    }
  }
  const uint32_t chosen = resident != UINT32_MAX ? resident : other;
  if (chosen == UINT32_MAX) return false;
  use_word(bin, span, chosen);
  return true;
}

void install(Bin& bin, Span* span) {
  span->state = SpanState::kCurrent;
  span->countdown = kQuietFrees;
  span->idle_ticks = 0;
  bin.span = span;
  [[maybe_unused]] const bool has_free_slots = use_next_word(bin, span);
  HAKOZUNA_CHECK(has_free_slots, "a span is taken into use for its free slots");
}

bool install_partial(Heap* heap, uint32_t size_class) {
  Span* const span = heap->partial[size_class].pop_front();
  if (!span) return false;
  install(heap->bins[size_class], span);
  return true;
}

bool carve(Heap* heap, uint32_t size_class) {
  const uint32_t order = kSizeClasses[size_class].order;
  char* const run = heap->runs.take(order, core::limit_bytes());
  if (!run) return false;
  heap->class_growth.note(run, size_class, order);
  if (!make_span(run, size_class, heap)) {
    heap->runs.put(run, order, core::retain_bytes());
    return false;
  }
  const mem::Region* const region = mem::chunk_supply.find_region(run);
  install(heap->bins[size_class], span_record(region->base, static_cast<size_t>(run - region->base)));
  return true;
}

// Gives the bin a word with free slots of what the heap has; false if it has none.
bool refill_from_own(Heap* heap, uint32_t size_class) {
  core::count(heap->refills, 1);
  count_event(heap, kEventsPerLook);
  Bin& bin = heap->bins[size_class];
  if (bin.span) {
    if (use_next_word(bin, bin.span)) return true;
    detach_bin(heap, size_class);
  }
  if (install_partial(heap, size_class)) return true;
  if (!has_queued(heap)) return false;
  collect_queue(heap, kCollectAtRefill);
  return install_partial(heap, size_class);
}

// The same, of an orphan or of new memory; false when the system has none.
bool refill_from_others(Heap* heap, uint32_t size_class) {
  if (adopt_orphan(heap, size_class) && install_partial(heap, size_class)) return true;
  if (carve(heap, size_class)) return true;
  // Before failing, everything of our own that could be of use.
  Care::flush(heap);
  mem::large_blocks.purge(UINT64_MAX, 0);
  return install_partial(heap, size_class) || carve(heap, size_class);
}

struct Slot {
  void* address;
  bool zeroed;
};

// Blocks of a page and more: what is known to be zero is tracked by slot, and warm slots go first. Null if the bin has no warm slot.
[[gnu::always_inline]] inline void* take_warm_slot(Bin& bin) {
  const uint64_t bits = *bin.word;
  if (bits == 0) return nullptr;  // there may be no span
  const uint64_t warm = bits & ~bin.span->unmarked;
  if (warm == 0) return nullptr;
  *bin.word = bits & ~(warm & -warm);
  return bin.word_base + lowest_bit(warm) * bin.slot_bytes;
}

// Of a bin that has slots.
Slot take_medium_slot(Bin& bin) {
  if (void* const warm = take_warm_slot(bin)) return {warm, false};
  Span* const span = bin.span;
  const uint64_t bits = *bin.word;
  const uint64_t index = lowest_bit(bits);
  const uint64_t bit = uint64_t{1} << index;
  *bin.word = bits & ~bit;
  char* const slot = bin.word_base + index * bin.slot_bytes;
  const bool zeroed = (span->fresh & bit) != 0;
  span->unmarked &= ~bit;
  span->fresh &= ~bit;
  mem::chunk_supply.mark_resident(slot, bin.slot_bytes);
  return {slot, zeroed};
}

Slot allocate_medium(Heap* heap, uint32_t size_class) {
  Bin& bin = heap->bins[size_class];
  if (*bin.word == 0 && !refill_from_own(heap, size_class)) {
    if (void* const slot = take_pending_slot(heap, size_class)) return {slot, false};
    if (!refill_from_others(heap, size_class)) return {nullptr, false};
  }
  return take_medium_slot(bin);
}

void* allocate_small(Heap* heap, uint32_t size_class) {
  Bin& bin = heap->bins[size_class];
  if (void* const slot = take_slot(bin)) return slot;
  if (!refill_from_own(heap, size_class)) {
    if (size_class >= kFirstOneWordClass) {
      if (void* const slot = take_pending_slot(heap, size_class)) return slot;
    }
    if (!refill_from_others(heap, size_class)) return nullptr;
  }
  return take_slot(bin);
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

// Of any size, of a heap that has been attended to.
[[gnu::noinline]] void* allocate_from(Heap* heap, size_t size) {
  if (size > mem::kMaxSlotBytes) return allocate_large(heap, size, 1, /*zeroed=*/false);
  void* const block = size <= mem::kSmallLimit ? allocate_small(heap, mem::small_class_of(size))
                                               : allocate_medium(heap, mem::class_of(size)).address;
  return block ? block : core::out_of_memory();
}

[[gnu::noinline]] void* allocate_with_attention(size_t size) {
  Heap* const heap = attentive_heap();
  return heap ? allocate_from(heap, size) : core::out_of_memory();
}

}  // namespace

void* allocate_slow(size_t size) noexcept {
  Heap* const heap = thread_heap;
  if (Care::must_attend(heap)) [[unlikely]] return allocate_with_attention(size);
  if (size <= mem::kSmallLimit) {
    if (void* const slot = take_slot(*small_bin(heap, size))) return slot;
  } else if (size <= mem::kMaxSlotBytes) {
    if (void* const slot = take_warm_slot(heap->bins[mem::class_of(size)])) return slot;
  }
  return allocate_from(heap, size);
}

void* Hz8::allocate_zeroed(size_t size) noexcept {
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
  const Slot slot = allocate_medium(heap, size_class);
  if (!slot.address) return core::out_of_memory();
  if (!slot.zeroed) memset(slot.address, 0, mem::slot_bytes_of(size_class));
  return slot.address;
}

void* Hz8::allocate_aligned(size_t alignment, size_t size) noexcept {
  if (alignment <= mem::kMinAlignment) return allocate(size);
  Heap* const heap = attentive_heap();
  if (!heap) return core::out_of_memory();
  const uint32_t size_class = mem::aligned_class_of(alignment, size, kSizeClasses);
  if (size_class == mem::kClassCount) return allocate_large(heap, size, alignment, /*zeroed=*/false);
  void* const block = size_class < mem::kSmallClassCount ? allocate_small(heap, size_class)
                                                         : allocate_medium(heap, size_class).address;
  return block ? block : core::out_of_memory();
}

void* Hz8::resize_without_copy(void* block, size_t size) noexcept {
  if (const Span* const span = find_span(block)) return size <= span->slot_bytes ? block : nullptr;
  if (size <= mem::kMaxSlotBytes) return nullptr;  // a shrink that leaves the large blocks
  mem::LargeBlock* const large = mem::large_blocks.find(block);
  return large ? core::resize_large(large, size) : nullptr;
}

void list_span(Heap* heap, Span* span, uint32_t allocated) {
  if (allocated == span->slot_count) {
    span->state = SpanState::kFull;
    // A span that has just been full is looked at again when it can serve a few allocations.
    span->countdown = 1 + span->slot_count / kFullSpanShare;
    heap->full.push_front(span);
  } else {
    span->state = SpanState::kPartial;
    span->countdown = allocated != 0 ? allocated : kNoEvent;
    // At the end: those before it have had more time to collect free slots.
    heap->partial[span->size_class].push_back(span);
  }
}

void place_span(Heap* heap, Span* span) {
  const uint32_t allocated = allocated_slots(span);
  if (allocated == 0) {
    release_span(heap, span);
  } else {
    list_span(heap, span, allocated);
  }
}

void use_word_again(Bin& bin) {
  if (bin.span) use_word(bin, bin.span, static_cast<uint32_t>(bin.word - bin.span->free_bits));
}

void detach_bin(Heap* heap, uint32_t size_class) {
  Bin& bin = heap->bins[size_class];
  Span* const span = bin.span;
  if (!span) return;
  bin.word = &no_free_slots;
  bin.word_base = nullptr;
  bin.span = nullptr;
  place_span(heap, span);
}

void release_span(Heap* heap, Span* span) {
  check_span(span);
  char* const run = run_of(span);
  const uint32_t order = span->order;
  if (unmake_span(span)) return heap->runs.put(run, order, core::retain_bytes());
  list_span(heap, span, 0);  // it is on our queue, with nothing pending: place_span() is called again when it is collected
}

}  // namespace hakozuna::hz8
