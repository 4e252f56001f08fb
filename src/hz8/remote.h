// Frees by threads that do not own the span: pending bits, tokens and queues. layout.h has the invariants.
#pragma once

#include "common/core/diagnostics.h"
#include "hz8/layout.h"

namespace hakozuna::hz8 {

// Frees a slot of a span of another thread, or of none. False if it was free or pending already.
bool remote_free(Span* span, uint64_t slot);

// Sees to it that the span, which has something pending, gets on its owner's queue: at once, or when the thread has held its token for a while.
void notify(Span* span);

// Whether no thread is about to take the token of one of these records, which are of free chunks, and none has it: the supply may then return
// their pages.
bool may_discard_records(char* first_record, size_t count);

// Passes a span's token on: to the queue of its owner, or, for an orphan, by collecting it at once.
void deliver(Span* span);

// The same for a chain of spans linked by queue_next; null is an empty one.
void deliver_chain(Span* chain);

// Delivers the tokens the calling thread holds.
void deliver_held(Heap* heap);

// Collects what is pending of a span that the caller owns, whose token it holds, and gives the token up. The next holder may have queue_next
// and pages_returned from then on. Returns how many slots became free.
uint32_t collect_and_release_token(Span* span, core::MisuseNotes& notes);

// Gives up the token of a span that the caller does not own. False if the caller has it again, because something is pending.
bool release_token(Span* span);

// In a forked child: the threads that had no heap are gone.
void forget_notifiers_after_fork();

// Any thread; to one that is not the owner it says what was so a moment ago.
inline bool has_queued(const Heap* heap) {
  return racing_read(heap->carried) || heap->queue.load(std::memory_order_seq_cst);
}

// Collects up to `budget` spans of the heap's queue. Owner only.
void collect_queue(Heap* heap, uint32_t budget);

// Remembers where this thread freed a block of another, in a span of what was then this class.
void remember_remote_free(Heap* heap, Span* span, uint32_t size_class);

// Takes a pending slot of the class from a span in which this thread has lately freed one: memory that is warm and that its owner, who may not
// be running, has not collected. Null if there is none.
void* take_pending_slot(Heap* heap, uint32_t size_class);

}  // namespace hakozuna::hz8
