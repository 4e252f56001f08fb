// Frees by threads that do not own the span: pending bits, tokens and queues. layout.h has the invariants.
#pragma once

#include "hz8/layout.h"

namespace hakozuna::hz8 {

// Frees a slot of a span of another thread, or of none. False if it was free or pending already.
bool remote_free(Span* span, uint64_t slot);

// Passes a span's token on: to the queue of its owner, or, for an orphan, by collecting it at once.
void deliver(Span* span);

inline bool has_queued(const Heap* heap) {
  return heap->carried || heap->queue.load(std::memory_order_relaxed);
}

// Collects up to `budget` spans of the heap's queue. Owner only.
void collect_queue(Heap* heap, uint32_t budget);

// Returns to the system the pages of another thread's heap that hold nothing but pending slots. Its owner may be asleep for ever; the tokens
// of its queue, which this thread takes meanwhile, are what keeps those slots from being handed out. Returns the bytes.
size_t discard_pending_pages(Heap* heap);

}  // namespace hakozuna::hz8
