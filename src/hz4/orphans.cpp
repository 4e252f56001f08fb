#include "hz4/orphans.h"

#include "hz4/allocation.h"
#include "hz4/heaps.h"

namespace hakozuna::hz4 {
namespace {

struct Orphans {
  os::Lock lock{os::Rank::kOrphans};
  List<Span> partial[mem::kClassCount];
  List<Span> full;
  // How many are in partial; read without the lock (relaxed) to pass by quickly.
  std::atomic<uint32_t> count[mem::kClassCount];
};
constinit Orphans orphans;

bool can_give(const Span* span) {
  return span->free_count != 0 || span->carved != kSizeClasses[span->size_class()].slot_count;
}

void insert(Span* span) {
  const uint32_t c = span->size_class();
  if (can_give(span)) {
    span->state = SpanState::kOrphan;
    // Those with warm blocks first.
    span->free_count != 0 ? orphans.partial[c].push_front(span) : orphans.partial[c].push_back(span);
    orphans.count[c].fetch_add(1, std::memory_order_relaxed);
  } else {
    span->state = SpanState::kOrphanFull;
    orphans.full.push_front(span);
  }
}

void remove(Span* span) {
  const uint32_t c = span->size_class();
  if (span->state == SpanState::kOrphan) {
    orphans.partial[c].remove(span);
    orphans.count[c].fetch_sub(1, std::memory_order_relaxed);
  } else {
    orphans.full.remove(span);
  }
}

}  // namespace

os::Lock& orphan_lock() { return orphans.lock; }

void make_orphan(Span* span, EmptyRuns& empty) {
  if (span->out() == 0) return unmake_span(span, empty);
  check_span(span);
  os::LockGuard guard(orphans.lock);
  insert(span);
  // release: pairs with the acquire of who sorts blocks. From here on the span belongs to the holder of the orphan lock.
  span->owner.store(nullptr, std::memory_order_release);
}

bool adopt_orphan(Heap* heap, uint32_t size_class) {
  if (orphans.count[size_class].load(std::memory_order_relaxed) == 0) return false;
  os::LockGuard guard(orphans.lock);
  Span* const span = orphans.partial[size_class].first();
  if (!span) return false;
  remove(span);
  place_span(heap, span);
  core::count(heap->adopted_spans, 1);
  // release: pairs with the acquire of who sorts blocks.
  span->owner.store(heap, std::memory_order_release);
  return true;
}

Block* bring_home_to_orphans(Block* chain) {
  Block* strangers = nullptr;
  core::MisuseNotes notes(Hz4::kName);
  EmptyRuns empty;
  {
    os::LockGuard guard(orphans.lock);
    while (Block* const block = chain) {
      chain = block->next;
      Span* const span = span_of(block);
      // relaxed: if it has none it stays so under the lock.
      if (span->owner.load(std::memory_order_relaxed)) {
        block->next = strangers;
        strangers = block;
        continue;
      }
      const bool had_free = span->free_count != 0;
      if (!bring_home(span, block, notes)) continue;
      if (had_free && span->out() != 0) continue;
      remove(span);
      if (span->out() == 0) {
        unmake_span(span, empty);
      } else {
        insert(span);
      }
    }
  }
  release_runs(empty, nullptr);
  return strangers;
}

}  // namespace hakozuna::hz4
