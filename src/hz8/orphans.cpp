#include "hz8/orphans.h"

#include "hz8/allocation.h"
#include "hz8/heaps.h"
#include "hz8/hz8.h"
#include "hz8/reclaim.h"
#include "hz8/remote.h"
#include "hz8/spans.h"

namespace hakozuna::hz8 {
namespace {

struct Orphans {
  os::Lock lock{os::Rank::kOrphans};
  List<Span> with_free_slots[mem::kClassCount];
  List<Span> full[mem::kClassCount];
  // How many are in with_free_slots; read without the lock (relaxed) to pass by quickly.
  std::atomic<uint32_t> count[mem::kClassCount];
  // When a span with free slots was last put on a list, ms; 0 if its pages have been returned since. Relaxed: a hint.
  std::atomic<uint64_t> changed_at{0};
};
constinit Orphans orphans;

void insert(Span* span) {
  const uint32_t c = span->size_class;
  if (free_slots(span) == 0) {
    span->state = SpanState::kOrphanFull;
    orphans.full[c].push_back(span);
  } else {
    span->state = SpanState::kOrphan;
    orphans.with_free_slots[c].push_back(span);
    orphans.count[c].fetch_add(1, std::memory_order_relaxed);
    orphans.changed_at.store(os::coarse_milliseconds(), std::memory_order_relaxed);
  }
}

void remove(Span* span) {
  const uint32_t c = span->size_class;
  if (span->state == SpanState::kOrphanFull) {
    orphans.full[c].remove(span);
  } else {
    orphans.with_free_slots[c].remove(span);
    orphans.count[c].fetch_sub(1, std::memory_order_relaxed);
  }
}

void adopt(Heap* heap, Span* span) {
  span->idle_ticks = 0;
  core::count(heap->adopted_spans, 1);
  list_span(heap, span, allocated_slots(span));  // on the full list, if what was pending has been taken before it was collected
  // release: pairs with deliver(), which pushes to the queue of the owner it reads.
  span->owner.store(heap, std::memory_order_release);
}

}  // namespace

os::Lock& orphan_lock() { return orphans.lock; }

void make_orphan(Span* span) {
  char* const run = run_of(span);
  const uint32_t order = span->order;
  if (allocated_slots(span) == 0 && unmake_span(span)) return core::release_run(run, order);
  os::LockGuard guard(orphans.lock);
  span->countdown = kNoEvent;
  insert(span);
  // release: pairs with deliver(). From here on the span belongs to the holder of the lock.
  span->owner.store(nullptr, std::memory_order_release);
}

bool adopt_orphan(Heap* heap, uint32_t size_class) {
  if (orphans.count[size_class].load(std::memory_order_relaxed) == 0) return false;
  os::LockGuard guard(orphans.lock);
  Span* const span = orphans.with_free_slots[size_class].first();
  if (!span) return false;
  remove(span);
  adopt(heap, span);
  return true;
}

bool collect_orphan(Span* span) {
  char* run = nullptr;
  uint32_t order = 0;
  core::MisuseNotes notes(Hz8::kName);
  {
    os::LockGuard guard(orphans.lock);
    if (span->owner.load(std::memory_order_relaxed)) return false;
    const bool is_orphan = span->state == SpanState::kOrphan || span->state == SpanState::kOrphanFull;
    if (!is_orphan) {
      // A span given back before this late token. It may be in use again by now, and a free may have relied on the token.
      span->pages_returned = false;
      return release_token(span);
    }
    remove(span);
    collect_and_release_token(span, notes);
    Heap* const heap = thread_heap;
    run = run_of(span);
    order = span->order;
    if (allocated_slots(span) != 0 || !unmake_span(span)) {
      run = nullptr;
      if (heap != &no_heap) {
        adopt(heap, span);
      } else {
        insert(span);
      }
    }
  }
  if (run) core::release_run(run, order);
  return true;
}

// Once nothing has changed among the orphans for the delay.
bool HeapKind::purge_orphans(uint64_t now_ms, uint64_t delay_ms) {
  const uint64_t changed_at = orphans.changed_at.load(std::memory_order_relaxed);
  if (changed_at == 0) return false;
  if (now_ms < changed_at + delay_ms) return true;
  orphans.changed_at.store(0, std::memory_order_relaxed);
  discard_orphan_pages();
  return false;
}

size_t HeapKind::discard_orphan_pages() {
  os::LockGuard guard(orphans.lock);
  size_t bytes = 0;
  for (List<Span>& list : orphans.with_free_slots) {
    for (Span* span = list.first(); span; span = span->next) bytes += discard_free_pages(span);
  }
  return bytes;
}

}  // namespace hakozuna::hz8
