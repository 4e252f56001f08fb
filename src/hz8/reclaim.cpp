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

// Most allocations a busy thread serves between two looks at the clock (some 15 ns) while it is armed. A thread that becomes slow is late by as
// many allocations.
constexpr uint32_t kLongestSkip = 64;

// Heaps served in one go by a thread that purges on behalf of others.
constexpr uint32_t kHeapBatch = 64;

uint64_t tick_ms() { return core::purge_delay_ms() / kIdleTicks; }

void arm(Heap* heap, uint64_t now) {
  if (heap->tick_due == 0) heap->tick_due = now + tick_ms();
  heap->fast_limit.store(0, std::memory_order_relaxed);  // our own: attend() runs on this thread
}

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

// The owner's periodic work. Arms the next tick if there is something left for it.
void tick(Heap* heap, uint64_t now) {
  bool more = false;
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
  const uint64_t oldest_kept = now - core::purge_delay_ms();
  more |= give_up_cached_runs(heap, static_cast<uint32_t>(oldest_kept));
  heap->tick_due = more ? now + tick_ms() : 0;
}

// Heaps whose owners have not been seen for a while: what is on their queues, and their cached runs, is returned for them.
bool serve_sleeping_heaps(uint64_t now) {
  bool more = false;
  Heap* batch[kHeapBatch];
  uint32_t count = 0;
  const uint64_t delay = core::purge_delay_ms();
  for_each_heap([&](Heap* heap) {
    const bool has_work = heap->queue.load(std::memory_order_relaxed) != nullptr || has_cached_runs(heap);
    if (!has_work || heap == thread_heap) return;
    if (now - heap->seen_at.load(std::memory_order_relaxed) < delay) {
      more = true;
    } else if (count < kHeapBatch) {
      batch[count++] = heap;
    } else {
      more = true;
    }
  });
  for (uint32_t i = 0; i < count; ++i) {
    discard_pending_pages(batch[i]);
    give_up_cached_runs(batch[i], static_cast<uint32_t>(now - delay));
  }
  return more;
}

// What no thread owns, or an absent one. At most one thread at a time and not more often than useful. Returns whether there is more to do later.
bool purge_shared(uint64_t now) {
  static constinit std::atomic<uint64_t> next_at{0};
  static constinit std::atomic<bool> last_said_more{false};
  uint64_t due = next_at.load(std::memory_order_relaxed);
  if (now < due) return last_said_more.load(std::memory_order_relaxed) || mem::chunk_supply.purge_pending() ||
                        mem::large_blocks.purge_pending();
  // relaxed: only chooses one thread.
  if (!next_at.compare_exchange_strong(due, now + tick_ms() / 4, std::memory_order_relaxed)) return true;
  const uint64_t delay = core::purge_delay_ms();
  mem::chunk_supply.purge(now, delay, core::retain_bytes());
  mem::large_blocks.purge(now, delay);
  reap_heaps();
  const bool sleeping = serve_sleeping_heaps(now);
  const bool orphans = purge_orphans(now, delay);
  const bool more = sleeping || orphans || mem::chunk_supply.purge_pending() || mem::large_blocks.purge_pending();
  last_said_more.store(more, std::memory_order_relaxed);
  return more;
}

}  // namespace

void attend(Heap* heap) {
  // seq_cst: withdraws the request before looking for what it was about; pairs with deliver().
  heap->fast_limit.exchange(mem::kSmallLimit, std::memory_order_seq_cst);
  const uint64_t now = os::coarse_milliseconds();
  const bool busy = now == heap->seen_at.load(std::memory_order_relaxed);
  heap->seen_at.store(now, std::memory_order_relaxed);
  if (heap->flush_requested.load(std::memory_order_relaxed)) {
    heap->flush_requested.store(false, std::memory_order_relaxed);
    flush_heap(heap);
  }
  if (heap->tick_due == 0 && has_queued(heap)) heap->tick_due = now + tick_ms();
  if (heap->tick_due != 0 && now >= heap->tick_due) tick(heap, now);
  const bool shared = purge_shared(now);
  if (heap->tick_due == 0 && !shared) return;
  heap->attention_step = busy ? heap->attention_step * 2 : 1;
  if (heap->attention_step > kLongestSkip) heap->attention_step = kLongestSkip;
  heap->attention_skip.store(heap->attention_step - 1, std::memory_order_relaxed);
  heap->fast_limit.store(0, std::memory_order_relaxed);  // stay armed; a concurrent request says the same
}

void look_at_clock(Heap* heap) {
  heap->events = 0;
  const uint64_t now = os::coarse_milliseconds();
  heap->seen_at.store(now, std::memory_order_relaxed);
  if (heap->tick_due != 0 && now >= heap->tick_due) tick(heap, now);
  purge_shared(now);
  arm(heap, now);
  // A burst of frees takes idle bins apart one after the other, so that the last free of each span is seen.
  const uint32_t c = heap->detach_next++ % mem::kClassCount;
  detach_if_idle(heap, c);
}

size_t flush_heap(Heap* heap) {
  size_t bytes = 0;
  collect_queue(heap, UINT32_MAX);
  for (uint32_t c = 0; c < mem::kClassCount; ++c) {
    detach_bin(heap, c);
    for (Span* span = heap->partial[c].first(); span; span = span->next) bytes += discard_free_pages(span);
  }
  give_up_cached_runs(heap, UINT32_MAX);
  give_up_cold_runs(heap);
  heap->tick_due = 0;
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
  const size_t bytes =
      discard_slots(span, [span](uint32_t slot) { return (span->free_bits[slot / 64] >> (slot % 64)) & 1; });
  if (bytes != 0) note_returned_pages(span);
  return bytes;
}

void Hz8::thread_flush() noexcept {
  Heap* const heap = thread_heap;
  if (heap != &no_heap) flush_heap(heap);
}

void Hz8::purge() noexcept { purge_shared(os::coarse_milliseconds()); }

size_t Hz8::trim(size_t keep_bytes) noexcept {
  size_t bytes = 0;
  if (thread_heap != &no_heap) bytes += flush_heap(thread_heap);
  reap_heaps();
  // Other threads give up their own caches at their next allocation; what can be had without them is taken now.
  Heap* batch[kHeapBatch];
  Heap* last = nullptr;
  for (uint32_t count = kHeapBatch; count == kHeapBatch;) {
    count = 0;
    bool passed = last == nullptr;
    for_each_heap([&](Heap* heap) {
      if (passed && count < kHeapBatch && heap != thread_heap) batch[count++] = heap;
      if (heap == last) passed = true;
    });
    for (uint32_t i = 0; i < count; ++i) {
      bytes += discard_pending_pages(batch[i]);
      give_up_cached_runs(batch[i], UINT32_MAX);
      batch[i]->flush_requested.store(true, std::memory_order_relaxed);
      batch[i]->request_attention();
      last = batch[i];
    }
  }
  bytes += discard_orphan_pages();
  const uint64_t now = os::coarse_milliseconds();  // after everything above became free
  bytes += mem::large_blocks.purge(now, 0);
  bytes += mem::chunk_supply.purge(now, 0, keep_bytes);
  return bytes;
}

}  // namespace hakozuna::hz8
