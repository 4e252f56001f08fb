// Looking after the heaps of a line: a heap's start and end, and the timers by which memory goes back without anybody asking for it.
//
//   own_heap ──> take one, start it                      a thread's first allocation
//   allocate_slow of the line ──> attend                 fast_limit is 0: withdraw the request, look at the clock
//                                   ├─> tick             this heap's own work, when due
//                                   └─> purge_shared     what no thread owns, or an absent one: at most one thread at a time
//   slow events ──> look_at_clock                        now and then: arms the timer, does what is due
//   end_own_heap                                         the thread's exit handler
//
// A heap that has freed something is "armed": tick_due says when its owner is to look at what became free, and a fast_limit of 0 sends
// allocations through attend(), which looks at the clock, at every allocation of a slow thread and rarely in a busy one. Empty runs age in
// the heap's cache and in the supply, which is purged by whoever comes by.
//
// A line says what its heaps are by a class with these static members:
//
//   Heap                           derives from ThreadHeap<Heap>
//   kRecordBytes                   of the line's record a chunk
//   kFastLimit                     the largest request of the fast path
//   mine()                         the thread's heap, an os::ThreadLocal; &none() before its first allocation and after its exit handler
//   Heap& none()                   a heap that owns nothing and whose fast_limit is 0
//   void start(Heap*)              makes a new or recycled heap ready
//   void end(Heap*)                gives up all that the heap has; other threads may still find it
//   void deliver_late(Heap*)       sees to what reached a heap after its end
//   bool has_queued(const Heap*)   whether other threads have left something for the owner; loads seq_cst what they push to: see attend()
//   bool tick(Heap*)               the owner's periodic work; whether there is more for the next tick
//   size_t flush(Heap*)            gives up everything of the caller's heap that is free; the bytes returned to the system so far
//   size_t serve_sleeping(Heap*)   returns what can be returned of an absent owner's heap; the bytes
//   bool purge_orphans(now, delay) returns pages of spans without an owner; whether there is more to do later
//   size_t discard_orphan_pages()  the same at once; the bytes
//   kCountsFrees                   if it exists: frees into what is allocated from are slow events too, one in many. Then a busy thread need not
//                                  stay armed: see attend()
#pragma once

#include "common/core/first_heap.h"
#include "common/core/options.h"
#include "common/core/thread_exit.h"
#include "common/core/thread_heap.h"
#include "common/mem/mem.h"
#include "hakozuna/hakozuna.h"

namespace hakozuna::core {

// Half of the purge delay: what became free right after a tick is looked at by the second one after that at the latest.
inline uint64_t tick_ms() { return purge_delay_ms() / 2; }

// A run that was in use goes to the supply.
inline void release_run(char* run, uint32_t order) {
  mem::chunk_supply.release_run_and_request(run, order, os::coarse_milliseconds(), retain_bytes());
}

template <class Kind>
class HeapCare {
 public:
  using Heap = typename Kind::Heap;

  // The calling thread's heap, made if it has none; null if there is no memory for it.
  static Heap* own_heap();

  // Ends the calling thread's heap, if it has one.
  static void end_own_heap();

  // Ends the heaps of threads that ended without notice, and sees to what reached an ended heap.
  static void reap();

  // Asks all threads to look at their timers at their next allocation.
  static void request_attention() {
    registry.for_each([](Heap* heap) { heap->request_attention(); });
  }

  // What the owner does when fast_limit was 0.
  static void attend(Heap* heap);

  // Whether attend() need not be called yet by an allocation that met a fast_limit of 0: the clock was looked at lately.
  static bool skip_attention(Heap* heap) {
    const uint32_t skip = heap->attention_skip.load(std::memory_order_relaxed);
    if (skip == 0) return false;
    heap->attention_skip.store(skip - 1, std::memory_order_relaxed);
    return true;
  }

  // Whether the owner's allocation is to call attend() first. Of none(), which has no clock to look at, always.
  static bool must_attend(Heap* heap) {
    return heap->fast_limit.load(std::memory_order_relaxed) == 0 && !skip_attention(heap);
  }

  // Has the timer run, and the owner look at it: there is something to do later. Owner.
  static void arm(Heap* heap) {
    if (heap->tick_due == 0) heap->tick_due = os::coarse_milliseconds() + tick_ms();
    heap->fast_limit.store(0, std::memory_order_relaxed);  // our own: attend() runs on this thread
  }

  // What a slow path does now and then: arms the timer, does what is due.
  static void look_at_clock(Heap* heap);

  // Gives back everything of the calling thread's heap that is free: for who is to be at rest, and before an allocation fails. Returns the bytes
  // returned to the system so far.
  static size_t flush(Heap* heap) {
    const size_t bytes = Kind::flush(heap);
    heap->runs.give_up_cached(retain_bytes());
    heap->runs.give_up_cold(retain_bytes());
    heap->tick_due = 0;
    return bytes;
  }

  // purge() and trim() of the Line concept.
  static void purge_shared() { purge_shared(os::coarse_milliseconds()); }
  static size_t trim(size_t keep_bytes);

  static void add_statistics(hakozuna_statistics& statistics) {
    const typename HeapRegistry<Heap>::Totals totals = registry.totals();
    statistics.refills += totals.refills;
    statistics.remote_frees += totals.remote_frees;
    statistics.adopted_spans += totals.adopted_spans;
    statistics.threads += totals.serving;
    statistics.threads_total += totals.ever;
  }

  static inline constinit HeapRegistry<Heap> registry;

 private:
  static void at_thread_exit(void*) {
    exit_handler_has_run = true;
    end_own_heap();
  }
  static void end_heap(Heap* heap);
  static void tick(Heap* heap, uint64_t now);
  static bool serve_sleeping_heaps(uint64_t now);
  static bool purge_shared(uint64_t now);

  // Most allocations a busy thread serves between two looks at the clock (some 15 ns) while it is armed. A thread that becomes slow is late by
  // as many allocations.
  static constexpr uint32_t kLongestSkip = 64;

  // Heaps served in one go by a thread that purges on behalf of others.
  static constexpr uint32_t kHeapBatch = 64;

  // Trims so far. Relaxed: a number for each.
  static inline constinit std::atomic<uint64_t> trims_{0};

  // Relaxed: they only choose one thread, and when.
  static inline constinit std::atomic<uint64_t> next_shared_purge_at_{0};
  static inline constinit std::atomic<bool> more_to_purge_{false};
};

template <class Kind>
typename Kind::Heap* HeapCare<Kind>::own_heap() {
  Heap* heap = Kind::mine();
  if (heap != &Kind::none()) return heap;
  initialise_options();
  if (!mem::chunk_supply.initialise(Kind::kRecordBytes)) return nullptr;
  mem::purge_listener.store(&request_attention, std::memory_order_release);
  heap = registry.take(exit_handler_has_run);
  if (!heap) return nullptr;
  heap->attention_skip.store(0, std::memory_order_relaxed);
  heap->attention_step = 1;
  heap->events = 0;
  heap->tick_due = 0;
  heap->flush_requested.store(false, std::memory_order_relaxed);
  heap->seen_at.store(os::coarse_milliseconds(), std::memory_order_relaxed);
  Kind::start(heap);
  heap->fast_limit.store(Kind::kFastLimit, std::memory_order_relaxed);
  Kind::mine() = heap;
  // Both may allocate from us, which works by now.
  if (first_heap_hook) first_heap_hook();
  if (!os::call_at_thread_exit(at_thread_exit, heap)) registry.expect_no_exit_handler(heap);  // reap() finds it then
  return heap;
}

template <class Kind>
void HeapCare<Kind>::end_heap(Heap* heap) {
  Kind::end(heap);
  heap->runs.give_up_cached(retain_bytes());
  heap->runs.give_up_cold(retain_bytes());
  registry.retire(heap);
  // For threads that found the heap before. One that is slower still is served by reap() or by the heap's next user.
  Kind::deliver_late(heap);
}

template <class Kind>
void HeapCare<Kind>::end_own_heap() {
  Heap* const heap = Kind::mine();
  if (heap == &Kind::none()) return;
  // Before: an orphan that is collected on the way must not be adopted by the heap that is ending.
  Kind::mine() = &Kind::none();
  end_heap(heap);
  // What a thread gives up at its end is of use to others, and goes back by the timers; what the last one gives up is not.
  if (registry.at_most_one_serves()) mem::chunk_supply.settle(retain_bytes());
}

template <class Kind>
void HeapCare<Kind>::reap() {
  while (Heap* const gone = registry.take_gone(Kind::mine())) end_heap(gone);
  Heap* late[kHeapBatch];
  uint32_t count = 0;
  registry.for_each_ended([&](Heap* heap) {
    if (count < kHeapBatch && Kind::has_queued(heap)) late[count++] = heap;
  });
  // Without the lock: giving back a run may ask all heaps for attention. The heap may serve again by now; what its thread had queued is only
  // delivered once more.
  for (uint32_t i = 0; i < count; ++i) Kind::deliver_late(late[i]);
}

template <class Kind>
void HeapCare<Kind>::attend(Heap* heap) {
  // seq_cst: withdraws the request before looking, seq_cst too, for what it was about; pairs with who published that and then asked.
  heap->fast_limit.exchange(Kind::kFastLimit, std::memory_order_seq_cst);
  const uint64_t now = os::coarse_milliseconds();
  const bool busy = now == heap->seen_at.load(std::memory_order_relaxed);
  heap->seen_at.store(now, std::memory_order_relaxed);
  if (heap->flush_requested.load(std::memory_order_relaxed)) {
    heap->flush_requested.store(false, std::memory_order_relaxed);
    flush(heap);
  }
  if (heap->tick_due == 0 && Kind::has_queued(heap)) heap->tick_due = now + tick_ms();
  if (heap->tick_due != 0 && now >= heap->tick_due) tick(heap, now);
  const bool shared = purge_shared(now);
  if (heap->tick_due == 0 && !shared) return;
  // A thread that has just served all these allocations within one tick of the clock will soon pass a slow event, which arms it again. Not while
  // memory waits for no more than a look at the clock: the next allocation may be the last for long.
  if constexpr (requires { Kind::kCountsFrees; }) {
    if (busy && !shared && heap->attention_step == kLongestSkip) return;
  }
  heap->attention_step = busy ? heap->attention_step * 8 : 1;
  if (heap->attention_step > kLongestSkip) heap->attention_step = kLongestSkip;
  heap->attention_skip.store(heap->attention_step - 1, std::memory_order_relaxed);
  heap->fast_limit.store(0, std::memory_order_relaxed);  // stay armed; a concurrent request says the same
}

template <class Kind>
void HeapCare<Kind>::look_at_clock(Heap* heap) {
  heap->events = 0;
  const uint64_t now = os::coarse_milliseconds();
  heap->seen_at.store(now, std::memory_order_relaxed);
  if (heap->tick_due != 0 && now >= heap->tick_due) tick(heap, now);
  purge_shared(now);
  // How busy it is has to show anew.
  if (heap->fast_limit.load(std::memory_order_relaxed) != 0) heap->attention_step = 1;
  arm(heap);
}

template <class Kind>
void HeapCare<Kind>::tick(Heap* heap, uint64_t now) {
  bool more = Kind::tick(heap);
  more |= heap->runs.give_up_older(static_cast<uint32_t>(now - purge_delay_ms()), retain_bytes());
  heap->tick_due = more ? now + tick_ms() : 0;
}

// Heaps whose owners have not been seen for a while: what is on their queues, and their cached runs, is returned for them.
template <class Kind>
bool HeapCare<Kind>::serve_sleeping_heaps(uint64_t now) {
  bool more = false;
  Heap* batch[kHeapBatch];
  uint32_t count = 0;
  const uint64_t delay = purge_delay_ms();
  registry.for_each([&](Heap* heap) {
    if (heap == Kind::mine() || (!Kind::has_queued(heap) && !heap->runs.has_cached())) return;
    // An owner that was seen after `now` was read is not asleep.
    if (heap->seen_at.load(std::memory_order_relaxed) + delay <= now && count < kHeapBatch) {
      batch[count++] = heap;
    } else {
      more = true;
    }
  });
  for (uint32_t i = 0; i < count; ++i) {
    Kind::serve_sleeping(batch[i]);
    batch[i]->runs.give_up_older(static_cast<uint32_t>(now - delay), retain_bytes());
  }
  return more;
}

template <class Kind>
bool HeapCare<Kind>::purge_shared(uint64_t now) {
  const auto pending = [] { return mem::chunk_supply.purge_pending() || mem::large_blocks.purge_pending(); };
  uint64_t due = next_shared_purge_at_.load(std::memory_order_relaxed);
  if (now < due) return more_to_purge_.load(std::memory_order_relaxed) || pending();
  // Not more often than useful.
  if (!next_shared_purge_at_.compare_exchange_strong(due, now + tick_ms() / 4, std::memory_order_relaxed)) return true;
  const uint64_t delay = purge_delay_ms();
  mem::chunk_supply.purge(now, delay, retain_bytes());
  mem::large_blocks.purge(now, delay);
  reap();
  const bool sleeping = serve_sleeping_heaps(now);
  const bool orphans = Kind::purge_orphans(now, delay);
  const bool more = sleeping || orphans || pending();
  more_to_purge_.store(more, std::memory_order_relaxed);
  return more;
}

template <class Kind>
size_t HeapCare<Kind>::trim(size_t keep_bytes) {
  size_t bytes = 0;
  if (Heap* const mine = Kind::mine(); mine != &Kind::none()) bytes += flush(mine);
  reap();
  // Other threads give up their own at their next allocation; what can be had without them is taken now.
  const uint64_t number = trims_.fetch_add(1, std::memory_order_relaxed) + 1;
  Heap* batch[kHeapBatch];
  for (uint32_t count = kHeapBatch; count == kHeapBatch;) {
    count = 0;
    registry.for_each([&](Heap* heap) {
      // A later trim of another thread that was here has done as much.
      if (count == kHeapBatch || heap == Kind::mine() || heap->trimmed_by >= number) return;
      heap->trimmed_by = number;
      batch[count++] = heap;
    });
    for (uint32_t i = 0; i < count; ++i) {
      bytes += Kind::serve_sleeping(batch[i]);
      batch[i]->runs.give_up_cached(retain_bytes());
      batch[i]->flush_requested.store(true, std::memory_order_relaxed);
      batch[i]->request_attention();
    }
  }
  bytes += Kind::discard_orphan_pages();
  const uint64_t now = os::coarse_milliseconds();  // after everything above became free
  bytes += mem::large_blocks.purge(now, 0);
  bytes += mem::chunk_supply.purge(now, 0, keep_bytes);
  return bytes;
}

}  // namespace hakozuna::core
