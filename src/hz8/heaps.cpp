#include "hz8/heaps.h"

#include "common/core/options.h"
#include "hz8/allocation.h"
#include "hz8/hz8.h"
#include "hz8/orphans.h"
#include "hz8/reclaim.h"
#include "hz8/remote.h"
#include "hz8/spans.h"

namespace hakozuna::hz8 {

uint64_t no_free_slots = 0;
// allocate(0) passes even a limit of 0: the first bin has a word.
constinit Heap no_heap{Bin{&no_free_slots, nullptr, 0, nullptr}};
constinit HAKOZUNA_THREAD_LOCAL os::ThreadLocal<Heap*, &no_heap, struct ThreadHeapName> thread_heap{&no_heap};

void HeapKind::start(Heap* heap) {
  mem::chunk_supply.set_record_discard(may_discard_records);
  for (uint32_t c = 0; c < mem::kClassCount; ++c) {
    heap->bins[c] = {&no_free_slots, nullptr, kSizeClasses[c].slot_bytes, nullptr};
    heap->idle_word[c] = 0;
  }
  heap->class_growth.tick();
  for (RemoteHints::Position& hints : heap->remote_hints.positions) hints.count = 0;
}

void HeapKind::end(Heap* heap) {
  deliver_held(heap);
  collect_queue(heap, UINT32_MAX);
  for (uint32_t c = 0; c < mem::kClassCount; ++c) detach_bin(heap, c);
  for (List<Span>& partial : heap->partial) {
    while (Span* const span = partial.pop_front()) make_orphan(span);
  }
  while (Span* const span = heap->full.pop_front()) make_orphan(span);
}

// Delivers the tokens that were pushed to a heap that owns nothing any more: by threads that read the old owner before its spans became
// orphans.
void HeapKind::deliver_late(Heap* heap) {
  // acquire: pairs with the push in deliver_chain().
  deliver_chain(heap->queue.exchange(nullptr, std::memory_order_acquire));
}

bool HeapKind::has_queued(const Heap* heap) {
  return hz8::has_queued(heap) || heap->held.load(std::memory_order_seq_cst);
}

namespace {

// Empties the record of a heap whose thread did not survive the fork. Its lists may be half changed; the spans are found otherwise.
void forget_contents(Heap* heap) {
  for (List<Span>& partial : heap->partial) partial.reset();
  heap->full.reset();
  heap->carried = nullptr;
  heap->queue.store(nullptr, std::memory_order_relaxed);
  heap->held.store(nullptr, std::memory_order_relaxed);
  heap->held_bytes = 0;
  heap->notifying.store(nullptr, std::memory_order_relaxed);
  heap->runs.forget_after_fork();
}

}  // namespace

void forget_other_heaps_after_fork() {
  Heap* const mine = thread_heap;
  Care::registry.retire_others(mine);
  forget_notifiers_after_fork();
  // Also those that had ended before: a purging thread may have been at their caches. Tokens on queues are forgotten with the queues: the
  // walk below sees to every pending bit.
  Care::registry.for_each_ended(forget_contents);
  if (mine != &no_heap) {
    mine->carried = nullptr;
    mine->queue.store(nullptr, std::memory_order_relaxed);
    mine->held.store(nullptr, std::memory_order_relaxed);
    mine->held_bytes = 0;
  }
  // Whatever the other threads were doing, the spans are found by a walk over all runs, also when none of them had a heap: one may have held
  // a token. The walk must not change the runs it goes over: runs to give back are linked through their records and released afterwards.
  Span* to_release = nullptr;
  core::MisuseNotes notes(Hz8::kName);
  const auto release_later = [&to_release](Span* span, char* run, uint32_t order) {
    span->first_slot = run;
    span->order = static_cast<uint8_t>(order);
    span->next = to_release;
    to_release = span;
  };
  mem::chunk_supply.for_each_line_record([](char* record) {
    std::atomic<bool>& queued = reinterpret_cast<Span*>(record)->queued;
    if (queued.load(std::memory_order_relaxed)) queued.store(false, std::memory_order_relaxed);  // a write would copy the page of the record
  });
  mem::chunk_supply.for_each_run([&](char* record, char* run, uint32_t order) {
    Span* const span = reinterpret_cast<Span*>(record);
    Heap* const owner = span->owner.load(std::memory_order_relaxed);
    const bool is_orphan = span->state == SpanState::kOrphan || span->state == SpanState::kOrphanFull;
    if (span->state == SpanState::kNone || (!owner && !is_orphan)) {
      // Half made, or in a cache of runs.
      if (mine != &no_heap && mine->runs.keeps(run)) return;
      for (uint32_t i = 1; i < 1u << order; ++i) span[i].head_distance = 0;
      span->state = SpanState::kNone;
      release_later(span, run, order);
      return;
    }
    // Another thread may have been between taking a slot and saying that its pages are resident: an owner of a word of slots says it before the
    // first is taken.
    if (span->has_one_word()) mark_live_slots(span);
    // Every pending bit is collected here: the threads that held tokens are gone.
    if (!span->has_one_word()) {
      uint64_t mask = 0;
      for (uint32_t i = 0; i < span->word_count(); ++i) {
        if (span->pending_words[i].load(std::memory_order_relaxed) != 0) mask |= uint64_t{1} << i;
      }
      span->pending.store(mask, std::memory_order_relaxed);
    }
    if (owner == mine && owner != nullptr) {
      if (span->pending.load(std::memory_order_relaxed) != 0) {
        span->queued.store(true, std::memory_order_relaxed);
        span->queue_next = mine->carried;
        mine->carried = span;
      }
      return;
    }
    collect_pending(span, notes);
    if (span->size_class >= mem::kSmallClassCount) {
      // The owner may have been between taking a slot and saying so here.
      span->unmarked &= span->free_bits[0];
      span->fresh &= span->unmarked;
    }
    note_returned_pages(span);  // those of slots that were pending may have been returned
    if (is_orphan) return;
    if (allocated_slots(span) == 0 && unmake_span(span)) {
      release_later(span, run, order);
    } else {
      make_orphan(span);
    }
  });
  while (Span* const span = to_release) {
    to_release = span->next;
    span->next = nullptr;
    core::release_run(span->first_slot, span->order);
  }
}

}  // namespace hakozuna::hz8
