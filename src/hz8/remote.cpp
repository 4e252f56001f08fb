#include "hz8/remote.h"

#include "hz8/allocation.h"
#include "hz8/heaps.h"
#include "hz8/hz8.h"
#include "hz8/orphans.h"
#include "hz8/reclaim.h"
#include "hz8/spans.h"

namespace hakozuna::hz8 {

bool remote_free(Span* span, uint64_t slot) {
  const uint64_t bit = uint64_t{1} << (slot % 64);
  // Both lines are probably in the owner's cache: the second is under way while the first is waited for.
  std::atomic<uint64_t>* const pending = span->has_one_word() ? &span->pending : &span->pending_words[slot / 64];
  arch::prefetch_for_write(pending);
  // A racing read of the owner's word, but not of our bit: while the block is allocated nobody changes it. On a double free any answer
  // that is not "free" is caught by the pending bit or when it is collected.
  if (racing_read(span->free_bits[slot / 64]) & bit) return false;
  if (span->has_one_word()) {
    const uint64_t before = span->pending.fetch_or(bit, std::memory_order_seq_cst);
    if (before & bit) return false;
    if (before == 0) notify(span);
    return true;
  }
  const uint64_t before = span->pending_words[slot / 64].fetch_or(bit, std::memory_order_seq_cst);
  if (before & bit) return false;
  if (before == 0 && span->pending.fetch_or(uint64_t{1} << (slot / 64), std::memory_order_seq_cst) == 0) {
    notify(span);
  }
  return true;
}

namespace {

// Threads without a heap that are in notify().
constinit std::atomic<uint32_t> notifying_without_heap{0};

// Takes the span's token; false if it is somebody else's to deliver.
bool take_token(Span* span) {
  // A late thread may find the span given back. Nothing is pending then, and its record may be about to become zeros again. seq_cst: after
  // the announcement in notify(); pairs with the fence in may_discard_records().
  if (racing_read<__ATOMIC_SEQ_CST>(span->state) == SpanState::kNone) return false;
  // If it is queued, whoever takes it off looks once more after turning the token back, and finds our bit.
  return !span->queued.load(std::memory_order_seq_cst) && !span->queued.exchange(true, std::memory_order_seq_cst);
}

void hold(Heap* heap, Span* span) {
  Span* head = heap->held.load(std::memory_order_relaxed);
  do {
    span->queue_next = head;
    // release: publishes queue_next to who takes the chain.
  } while (!heap->held.compare_exchange_weak(head, span, std::memory_order_release, std::memory_order_relaxed));
  if (!head) Care::arm(heap);  // delivered by the timer, if nothing else comes
  heap->held_bytes += run_bytes(span);
  if (heap->held_bytes >= kHeldBytes) deliver_held(heap);
}

}  // namespace

void notify(Span* span) {
  Heap* const heap = thread_heap;
  if (heap == &no_heap) {
    notifying_without_heap.fetch_add(1, std::memory_order_seq_cst);
    if (take_token(span)) deliver(span);
    notifying_without_heap.fetch_sub(1, std::memory_order_seq_cst);
    return;
  }
  // Announced before the state is looked at; may_discard_records() looks at the announcements, and at the tokens, after the state has become
  // kNone. One of the two sees the other.
  heap->notifying.store(span, std::memory_order_seq_cst);
  const bool taken = take_token(span);
  heap->notifying.store(nullptr, std::memory_order_release);
  if (taken) hold(heap, span);
}

void forget_notifiers_after_fork() { notifying_without_heap.store(0, std::memory_order_relaxed); }

bool may_discard_records(char* first_record, size_t count) {
  // seq_cst: the states became kNone by plain stores, before the run came back to the supply. Pairs with take_token().
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const Span* const first = reinterpret_cast<const Span*>(first_record);
  if (notifying_without_heap.load(std::memory_order_seq_cst) != 0) return false;
  bool free = true;
  Care::registry.for_each([&](Heap* heap) {
    const Span* const span = heap->notifying.load(std::memory_order_seq_cst);
    if (span >= first && span < first + count) free = false;
  });
  for (size_t i = 0; i < count; ++i) {
    // A token that is still about will be delivered to this very record.
    if (first[i].queued.load(std::memory_order_seq_cst)) free = false;
  }
  return free;
}

void deliver(Span* span) {
  span->queue_next = nullptr;
  deliver_chain(span);
}

void deliver_chain(Span* chain) {
  while (chain) {
    // acquire: pairs with the release that made it the owner's.
    Heap* const owner = chain->owner.load(std::memory_order_acquire);
    Span* last = chain;
    if (!owner) {
      Span* const next = chain->queue_next;  // before: the next holder's afterwards
      if (collect_orphan(chain)) {
        chain = next;
      } else {
        chain->queue_next = next;  // adopted meanwhile; the token may have been another thread's for a moment
      }
      continue;
    }
    while (last->queue_next && last->queue_next->owner.load(std::memory_order_acquire) == owner) last = last->queue_next;
    Span* const next = last->queue_next;
    Span* head = owner->queue.load(std::memory_order_relaxed);
    do {
      last->queue_next = head;
      // seq_cst: orders the push before the request for attention, against attend(), which withdraws the request before it looks at the
      // queue. Includes the release that publishes the links.
    } while (!owner->queue.compare_exchange_weak(head, chain, std::memory_order_seq_cst,
                                                 std::memory_order_relaxed));
    if (!head) owner->request_attention_in_time();
    chain = next;
  }
}

void deliver_held(Heap* heap) {
  heap->held_bytes = 0;
  // acquire: pairs with hold().
  deliver_chain(heap->held.exchange(nullptr, std::memory_order_acquire));
}

bool release_token(Span* span) {
  span->queued.store(false, std::memory_order_seq_cst);
  // Who set a bit before the store found the token taken and left it at that.
  return span->pending.load(std::memory_order_seq_cst) == 0 || span->queued.exchange(true, std::memory_order_seq_cst);
}

uint32_t collect_and_release_token(Span* span, core::MisuseNotes& notes) {
  uint32_t freed = 0;
  bool pages_returned = false;
  do {
    pages_returned |= span->pages_returned;
    span->pages_returned = false;
    freed += collect_pending(span, notes);
    // The token goes last: with it serve_sleeping() would return pages of slots that it saw pending, and that are handed out by now.
  } while (!release_token(span));
  if (pages_returned) note_returned_pages(span);
  return freed;
}

void collect_queue(Heap* heap, uint32_t budget) {
  core::MisuseNotes notes(Hz8::kName);
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
    core::count(heap->remote_frees, collect_and_release_token(span, notes));
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

void remember_remote_free(Heap* heap, Span* span, uint32_t size_class) {
  if (size_class < kFirstOneWordClass) return;
  RemoteHints::Position& hints = heap->remote_hints.positions[size_class - kFirstOneWordClass];
  Span** const spans = heap->remote_hints.spans[size_class - kFirstOneWordClass];
  if (hints.count != 0 && spans[(hints.next - 1) % RemoteHints::kSpans] == span) return;
  spans[hints.next++ % RemoteHints::kSpans] = span;
  if (hints.count < RemoteHints::kSpans) ++hints.count;
}

void* take_pending_slot(Heap* heap, uint32_t size_class) {
  RemoteHints::Position& hints = heap->remote_hints.positions[size_class - kFirstOneWordClass];
  Span** const spans = heap->remote_hints.spans[size_class - kFirstOneWordClass];
  while (hints.count != 0) {
    Span* const span = spans[(hints.next - 1) % RemoteHints::kSpans];
    const uint64_t pending = span->pending.load(std::memory_order_relaxed);
    if (pending == 0 || racing_read(span->size_class) != size_class) {
      --hints.next;
      --hints.count;
      continue;
    }
    const uint64_t slot = lowest_bit(pending);
    const uint64_t bit = uint64_t{1} << slot;
    if (!(span->pending.fetch_and(~bit, std::memory_order_seq_cst) & bit)) continue;  // somebody was faster
    // The slot is allocated now, and the span cannot be given back. It may have been before, and be one of another class since.
    if (racing_read(span->size_class) != size_class) {
      if (span->pending.fetch_or(bit, std::memory_order_seq_cst) == 0) notify(span);
      continue;
    }
    char* const block = span->first_slot + slot * span->slot_bytes;
    mem::chunk_supply.mark_resident(block, span->slot_bytes);  // its pages may have been returned
    return block;
  }
  return nullptr;
}

namespace {

// The pending bits of a span whose token the caller holds, kept from take_pending_slot() and put back at the end.
//
// Those of spans with words nobody takes, and they must stay where they are: a thread that found its word 0 sets the bit of `pending` later,
// which may be after its slot was collected with others, and in a span that was made of the same record since.
class PendingBits {
 public:
  explicit PendingBits(Span* span) : span_(span) {
    if (span->has_one_word()) taken_ = span->pending.exchange(0, std::memory_order_seq_cst);
  }
  ~PendingBits() {
    if (taken_ == 0) return;
    const uint64_t twice = span_->pending.fetch_or(taken_, std::memory_order_seq_cst) & taken_;
    if (twice == 0) return;
    core::MisuseNotes notes(Hz8::kName);
    note_double_free(span_, lowest_bit(twice), notes);
  }
  PendingBits(const PendingBits&) = delete;
  PendingBits& operator=(const PendingBits&) = delete;

  bool has(uint32_t slot) const {
    return span_->has_one_word() ? ((taken_ >> slot) & 1) != 0 : is_pending(span_, slot);
  }

 private:
  Span* const span_;
  uint64_t taken_ = 0;
};

}  // namespace

// Returns the pages of another thread's heap that hold nothing but pending slots. Its owner may be asleep for ever; the tokens of its queue,
// which this thread takes meanwhile, keep it from collecting them.
size_t HeapKind::serve_sleeping(Heap* heap) {
  // acquire: pairs with hold(); then as in collect_queue().
  deliver_chain(heap->held.exchange(nullptr, std::memory_order_acquire));
  Span* span = heap->queue.exchange(nullptr, std::memory_order_acquire);
  size_t bytes = 0;
  while (span) {
    Span* const next = span->queue_next;
    {
      const PendingBits pending(span);
      const size_t returned = discard_slots(span, [&pending](uint32_t slot) { return pending.has(slot); });
      if (returned != 0) span->pages_returned = true;
      bytes += returned;
    }
    deliver(span);
    span = next;
  }
  return bytes;
}

}  // namespace hakozuna::hz8
