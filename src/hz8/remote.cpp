#include "hz8/remote.h"

#include "hz8/allocation.h"
#include "hz8/orphans.h"
#include "hz8/reclaim.h"
#include "hz8/spans.h"

namespace hakozuna::hz8 {

bool remote_free(Span* span, uint64_t slot) {
  const uint64_t bit = uint64_t{1} << (slot % 64);
  // A racing read of the owner's word, but not of our bit: while the block is allocated nobody changes it. On a double free any answer
  // that is not "free" is caught by the pending bit or when it is collected.
  if (std::atomic_ref<uint64_t>(span->free_bits[slot / 64]).load(std::memory_order_relaxed) & bit) return false;
  // acq_rel: see collect_pending(). The first bit makes this thread the holder of the word's, then of the span's token.
  if (span->has_one_word()) {
    const uint64_t before = span->pending.fetch_or(bit, std::memory_order_acq_rel);
    if (before & bit) return false;
    if (before == 0) deliver(span);
    return true;
  }
  const uint64_t before = span->pending_words[slot / 64].fetch_or(bit, std::memory_order_acq_rel);
  if (before & bit) return false;
  if (before == 0 &&
      span->pending.fetch_or(uint64_t{1} << (slot / 64), std::memory_order_acq_rel) == 0) {
    deliver(span);
  }
  return true;
}

void deliver(Span* span) {
  for (;;) {
    // acquire: pairs with the release that made it the owner's.
    Heap* const owner = span->owner.load(std::memory_order_acquire);
    if (!owner) {
      if (collect_orphan(span)) return;
      continue;  // adopted meanwhile
    }
    Span* head = owner->queue.load(std::memory_order_relaxed);
    do {
      span->queue_next = head;
      // seq_cst: orders the push before the request for attention, against attend(), which withdraws the request before it looks at the
      // queue. Includes the release that publishes queue_next.
    } while (!owner->queue.compare_exchange_weak(head, span, std::memory_order_seq_cst,
                                                 std::memory_order_relaxed));
    if (!head) owner->request_attention();
    return;
  }
}

void collect_queue(Heap* heap, uint32_t budget) {
  Span* span = heap->carried;
  while (budget != 0) {
    if (!span) {
      if (!heap->queue.load(std::memory_order_relaxed)) break;
      // acquire: pairs with the push in deliver().
      span = heap->queue.exchange(nullptr, std::memory_order_acquire);
      continue;
    }
    --budget;
    Span* const next = span->queue_next;
    if (span->owner.load(std::memory_order_relaxed) != heap) {
      deliver(span);  // pushed to an earlier user of this heap
      span = next;
      continue;
    }
    heap->carried = next;  // before release_span(), which may come back here through the supply
    const uint32_t freed = collect_pending(span);
    heap->remote_frees.store(heap->remote_frees.load(std::memory_order_relaxed) + freed, std::memory_order_relaxed);
    note_returned_pages(span);  // another thread may have returned those of pending slots
    if (span->state == SpanState::kCurrent) {
      use_word_again(heap->bins[span->size_class]);
    } else {
      (span->state == SpanState::kFull ? heap->full : heap->partial[span->size_class]).remove(span);
      place_span(heap, span);
    }
    span = next;
  }
  heap->carried = span;
}

size_t discard_pending_pages(Heap* heap) {
  // acquire: as in collect_queue().
  Span* span = heap->queue.exchange(nullptr, std::memory_order_acquire);
  size_t bytes = 0;
  while (span) {
    Span* const next = span->queue_next;
    bytes += discard_slots(span, [span](uint32_t slot) { return is_pending(span, slot); });
    deliver(span);
    span = next;
  }
  return bytes;
}

}  // namespace hakozuna::hz8
