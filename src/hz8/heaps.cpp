#include "hz8/heaps.h"

#include <new>

#include "common/core/options.h"
#include "hz8/allocation.h"
#include "hz8/hz8.h"
#include "hz8/orphans.h"
#include "hz8/reclaim.h"
#include "hz8/remote.h"
#include "hz8/spans.h"

namespace hakozuna::hz8 {

uint64_t no_free_slots = 0;

namespace {

thread_local bool exit_handler_has_run __attribute__((tls_model("initial-exec"))) = false;

void at_thread_exit(void*) {
  exit_handler_has_run = true;
  end_own_heap();
}

void start_heap(Heap* heap) {
  for (uint32_t c = 0; c < mem::kClassCount; ++c) {
    heap->bins[c] = {&no_free_slots, nullptr, mem::kSizeClasses[c].slot_bytes, nullptr};
    heap->idle_word[c] = 0;
  }
  heap->after_exit = exit_handler_has_run;
  heap->thread_id = exit_handler_has_run ? os::thread_id() : 0;
  heap->attention_skip.store(0, std::memory_order_relaxed);
  heap->attention_step = 1;
  for (RemoteHints& hints : heap->remote_hints) hints.count = 0;
  heap->events = 0;
  heap->tick_due = 0;
  heap->flush_requested.store(false, std::memory_order_relaxed);
  heap->seen_at.store(os::coarse_milliseconds(), std::memory_order_relaxed);
  heap->fast_limit.store(mem::kSmallLimit, std::memory_order_relaxed);
}

Heap* take_heap() {
  {
    os::LockGuard guard(heap_registry.lock);
    if (Heap* const heap = heap_registry.ended.pop_front()) {
      heap_registry.serving.push_front(heap);
      heap->state = HeapState::kServing;
      ++heap_registry.serving_count;
      ++heap_registry.total_count;
      return heap;
    }
  }
  void* const memory = mem::metadata.allocate(sizeof(Heap));
  if (!memory) return nullptr;
  Heap* const heap = new (memory) Heap{};
  os::LockGuard guard(heap_registry.lock);
  heap_registry.serving.push_front(heap);
  heap->state = HeapState::kServing;
  ++heap_registry.serving_count;
  ++heap_registry.total_count;
  return heap;
}

// Delivers the tokens of a chain taken from the queue of a heap that owns nothing any more.
void deliver_all(Span* chain) {
  while (chain) {
    Span* const next = chain->queue_next;
    deliver(chain);
    chain = next;
  }
}

void end_heap(Heap* heap) {
  collect_queue(heap, UINT32_MAX);
  for (uint32_t c = 0; c < mem::kClassCount; ++c) detach_bin(heap, c);
  for (List<Span>& partial : heap->partial) {
    while (Span* const span = partial.pop_front()) make_orphan(span);
  }
  while (Span* const span = heap->full.pop_front()) make_orphan(span);
  give_up_cached_runs(heap, UINT32_MAX);
  give_up_cold_runs(heap);
  {
    os::LockGuard guard(heap_registry.lock);
    heap_registry.serving.remove(heap);
    heap_registry.ended.push_front(heap);
    heap->state = HeapState::kDead;
    --heap_registry.serving_count;
  }
  // After the spans have become orphans, for threads that read the old owner before. One that is slower still is served by reap_heaps()
  // or by the heap's next user.
  // acquire: pairs with the push in deliver().
  deliver_all(heap->queue.exchange(nullptr, std::memory_order_acquire));
}

// Empties the record of a heap whose thread did not survive the fork. Its lists may be half changed; the spans are found otherwise.
void forget_contents(Heap* heap) {
  for (List<Span>& partial : heap->partial) partial.reset();
  heap->full.reset();
  heap->carried = nullptr;
  heap->queue.store(nullptr, std::memory_order_relaxed);
  heap->cached_count = 0;
  heap->cached_bytes = 0;
  for (char*& run : heap->cold_run) run = nullptr;
}

bool is_only_thread() {
  os::LockGuard guard(heap_registry.lock);
  return heap_registry.serving_count <= 1;
}

}  // namespace

constinit HeapRegistry heap_registry;
// allocate(0) passes even a limit of 0: the first bin has a word.
constinit Heap no_heap{Bin{&no_free_slots, nullptr, 0, nullptr}};
constinit thread_local Heap* thread_heap = &no_heap;

Heap* own_heap() {
  Heap* heap = thread_heap;
  if (heap != &no_heap) return heap;
  core::initialise_options();
  if (!mem::chunk_supply.initialise(sizeof(Span))) return nullptr;
  mem::chunk_supply.set_record_discard(may_discard_records);
  heap = take_heap();
  if (!heap) return nullptr;
  start_heap(heap);
  thread_heap = heap;
  // May allocate from us, which works by now.
  if (!os::call_at_thread_exit(at_thread_exit, heap)) {
    heap->after_exit = true;  // found by reap_heaps() then
    heap->thread_id = os::thread_id();
  }
  return heap;
}

void end_own_heap() {
  Heap* const heap = thread_heap;
  if (heap == &no_heap) return;
  // Before: an orphan that is collected on the way must not be adopted by the heap that is ending.
  thread_heap = &no_heap;
  end_heap(heap);
  // What this thread kept warm is of no use to it any more, and what the last one gives up is of none to others.
  if (is_only_thread()) {
    mem::chunk_supply.settle(core::retain_bytes());
  } else {
    mem::chunk_supply.purge(0, 0, core::retain_bytes());
  }
}

void reap_heaps() {
  for (;;) {
    Heap* gone = nullptr;
    {
      os::LockGuard guard(heap_registry.lock);
      for (Heap* heap = heap_registry.serving.first(); heap && !gone; heap = heap->next) {
        if (heap->after_exit && heap != thread_heap && !os::thread_exists(heap->thread_id)) gone = heap;
      }
      if (gone) gone->after_exit = false;  // ours now
    }
    if (!gone) break;
    end_heap(gone);
  }
  for (;;) {
    Span* late = nullptr;
    {
      os::LockGuard guard(heap_registry.lock);
      for (Heap* heap = heap_registry.ended.first(); heap && !late; heap = heap->next) {
        if (heap->queue.load(std::memory_order_relaxed)) {
          late = heap->queue.exchange(nullptr, std::memory_order_acquire);  // as in end_heap()
        }
      }
    }
    if (!late) return;
    deliver_all(late);  // without the lock: giving back a run may ask all heaps for attention
  }
}

void request_attention() {
  for_each_heap([](Heap* heap) { heap->request_attention(); });
}

void forget_other_heaps_after_fork() {
  Heap* const mine = thread_heap;
  for (Heap* heap = heap_registry.serving.first(); heap;) {
    Heap* const next = heap->next;
    if (heap != mine) {
      heap_registry.serving.remove(heap);
      heap_registry.ended.push_front(heap);
      heap->state = HeapState::kDead;
      --heap_registry.serving_count;
    }
    heap = next;
  }
  // Also those that had ended before: a purging thread may have been at their caches.
  for (Heap* heap = heap_registry.ended.first(); heap; heap = heap->next) {
    new (&heap->cache_lock) os::Lock(os::Rank::kHeapCache);  // whoever held it is gone
  }
  // Tokens on queues are forgotten with the queues: the walk below sees to every pending bit.
  for (Heap* heap = heap_registry.ended.first(); heap; heap = heap->next) forget_contents(heap);
  if (mine != &no_heap) {
    mine->carried = nullptr;
    mine->queue.store(nullptr, std::memory_order_relaxed);
  }
  // Whatever the other threads were doing, the spans are found by a walk over all runs, also when none of them had a heap: one may have held
  // a token. The walk must not change the runs it goes over: runs to give back are linked through their records and released afterwards.
  Span* to_release = nullptr;
  mem::chunk_supply.for_each_line_record([](char* record) {
    reinterpret_cast<Span*>(record)->queued.store(false, std::memory_order_relaxed);
  });
  mem::chunk_supply.for_each_run([&](char* record, char* run, uint32_t order) {
    Span* const span = reinterpret_cast<Span*>(record);
    Heap* const owner = span->owner.load(std::memory_order_relaxed);
    const bool is_orphan = span->state == SpanState::kOrphan || span->state == SpanState::kOrphanFull;
    if (span->state == SpanState::kNone || (!owner && !is_orphan)) {
      // Half made, or in a cache of runs.
      if (mine != &no_heap && keeps_run(mine, run)) return;
      for (uint32_t i = 1; i < 1u << order; ++i) span[i].head_distance = 0;
      span->state = SpanState::kNone;
      span->first_slot = run;
      span->order = static_cast<uint8_t>(order);
      span->next = to_release;
      to_release = span;
      return;
    }
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
    collect_pending(span);
    if (!is_orphan) make_orphan(span);
  });
  while (Span* const span = to_release) {
    to_release = span->next;
    span->next = nullptr;
    release_run(span->first_slot, span->order);
  }
}

}  // namespace hakozuna::hz8
