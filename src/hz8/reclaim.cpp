#include "hz8/reclaim.h"

#include "common/core/options.h"
#include "hz8/allocation.h"
#include "hz8/heaps.h"
#include "hz8/hz8.h"
#include "hz8/orphans.h"
#include "hz8/remote.h"

namespace hakozuna::hz8 {
namespace {

// Ticks a span stays untouched before its free pages are returned: what is in use is not returned between two uses.
constexpr uint16_t kIdleTicks = 2;

// Takes spans out of bins that have not given out a slot since the last call with the same bins: free slots only were added to their
// words. In a bin a span is not seen when it becomes empty.
bool detach_if_idle(Heap* heap, uint32_t size_class) {
  const Bin& bin = heap->bins[size_class];
  if (!bin.span) return false;
  const uint64_t before = heap->idle_word[size_class];
  heap->idle_word[size_class] = *bin.word;
  if (before == 0 || (before & ~*bin.word) != 0) return true;
  heap->idle_word[size_class] = 0;
  detach_bin(heap, size_class);
  return false;
}

}  // namespace

bool HeapKind::tick(Heap* heap) {
  bool more = false;
  heap->class_growth.tick();
  deliver_held(heap);
  collect_queue(heap, UINT32_MAX);
  for (uint32_t c = 0; c < mem::kClassCount; ++c) {
    more |= detach_if_idle(heap, c);
    for (Span* span = heap->partial[c].first(); span; span = span->next) {
      if (span->idle_ticks < kIdleTicks) {
        ++span->idle_ticks;
        more = true;
      } else {
        discard_free_pages(span);
      }
    }
  }
  return more;
}

void count_event(Heap* heap, uint32_t events_per_look) {
  if (heap == &no_heap || ++heap->events < events_per_look) return;
  Care::look_at_clock(heap);
  // A burst of frees takes idle bins apart one after the other, so that the last free of each span is seen.
  const uint32_t c = heap->detach_next++ % mem::kClassCount;
  detach_if_idle(heap, c);
}

size_t HeapKind::flush(Heap* heap) {
  size_t bytes = 0;
  deliver_held(heap);
  collect_queue(heap, UINT32_MAX);
  for (uint32_t c = 0; c < mem::kClassCount; ++c) {
    detach_bin(heap, c);
    for (Span* span = heap->partial[c].first(); span; span = span->next) bytes += discard_free_pages(span);
  }
  return bytes;
}

void note_returned_pages(Span* span) {
  if (span->size_class < mem::kSmallClassCount) {
    span->unmarked = ~uint64_t{0};
    return;
  }
  for (uint64_t candidates = span->free_bits[0] & ~span->fresh; candidates != 0; candidates &= candidates - 1) {
    const uint64_t slot = lowest_bit(candidates);
    const uint64_t bit = uint64_t{1} << slot;
    switch (mem::chunk_supply.presence(span->first_slot + slot * span->slot_bytes, span->slot_bytes)) {
      case mem::ChunkSupply::Presence::kNone:
        span->fresh |= bit;
        [[fallthrough]];
      case mem::ChunkSupply::Presence::kPart:
        span->unmarked |= bit;
        break;
      case mem::ChunkSupply::Presence::kAll:
        break;
    }
  }
}

size_t discard_free_pages(Span* span) {
  check_span(span);
  const size_t bytes = discard_slots(span, [span](uint32_t slot) { return is_free(span, slot); });
  if (bytes != 0) note_returned_pages(span);
  return bytes;
}

void Hz8::thread_flush() noexcept {
  Heap* const heap = thread_heap;
  if (heap != &no_heap) Care::flush(heap);
}

void Hz8::purge() noexcept { Care::purge_shared(); }

size_t Hz8::trim(size_t keep_bytes) noexcept { return Care::trim(keep_bytes); }

}  // namespace hakozuna::hz8
