#include "hz3/orphans.h"

#include "hz3/heaps.h"
#include "hz3/hz3.h"
#include "hz3/spans.h"

namespace hakozuna::hz3 {
namespace {

struct Orphans {
  os::Lock lock{os::Rank::kOrphans};
  List<Span> partial[mem::kClassCount];
  List<Span> full[mem::kClassCount];
  // How many are partial; read without the lock (relaxed) to pass by quickly.
  std::atomic<uint32_t> count[mem::kClassCount];
  // When a partial span was last put on a list, ms; 0 if its pages have been returned since. Relaxed: a hint.
  std::atomic<uint64_t> changed_at{0};
};
constinit Orphans orphans;

void insert(Span* span) {
  const uint32_t c = span->size_class;
  if (span->free_count == 0) {
    span->state = SpanState::kFull;
    orphans.full[c].push_back(span);
  } else {
    span->state = SpanState::kPartial;
    orphans.partial[c].push_back(span);
    orphans.count[c].fetch_add(1, std::memory_order_relaxed);
    orphans.changed_at.store(os::coarse_milliseconds(), std::memory_order_relaxed);
  }
}

void remove(Span* span) {
  const uint32_t c = span->size_class;
  if (span->state == SpanState::kFull) {
    orphans.full[c].remove(span);
  } else {
    orphans.partial[c].remove(span);
    orphans.count[c].fetch_sub(1, std::memory_order_relaxed);
  }
}

// Takes a block back into its orphan. The run to give back if that was its last one.
struct Freed {
  bool is_orphan = false;
  Put result = Put::kDone;
  char* run = nullptr;
  uint32_t order = 0;
  const char* span_start = nullptr;
};
Freed put_under_lock(Span* span, void* block, Heap* heap) {
  os::LockGuard guard(orphans.lock);
  // Looked at again: an orphan gets an owner under this lock only.
  if (door_at(block) != nobodys_doors + span->size_class) return {};
  Freed freed{.is_orphan = true, .span_start = span->run};
  remove(span);
  freed.result = put_block(span, block);
  if (is_empty(span)) {
    freed.run = span->run;
    freed.order = span->geometry().order;
    unmake_span(span);
  } else if (freed.result == Put::kDone && heap) {
    set_owner(span, heap);
    span->state = SpanState::kPartial;
    heap->partial[span->size_class].push_front(span);
    heap->dirty.store(true, std::memory_order_relaxed);
    core::count(heap->adopted_spans, 1);
  } else {
    insert(span);
  }
  return freed;
}

}  // namespace

os::Lock& orphan_lock() { return orphans.lock; }

void make_orphan(Span* span) {
  os::LockGuard guard(orphans.lock);
  set_owner(span, nullptr);
  insert(span);
}

Span* take_orphan(uint32_t size_class, Heap* heap) {
  if (orphans.count[size_class].load(std::memory_order_relaxed) == 0) return nullptr;
  os::LockGuard guard(orphans.lock);
  Span* const span = orphans.partial[size_class].first();
  if (!span) return nullptr;
  remove(span);
  set_owner(span, heap);
  return span;
}

namespace {

// Whether the heap has lately filled its bin of the class. Others would keep an orphan from threads that have a use for it, and its blocks in a bin.
bool allocates(Heap* heap, uint32_t size_class) {
  return heap->bin(size_class).bound > static_cast<int32_t>(first_bound(size_class));
}

}  // namespace

bool free_orphan(void* block, Heap* heap) {
  Freed freed;
  Span* const span = find_span(block);
  if (!span) return false;
  if (heap == &no_heap || !allocates(heap, span->size_class)) {
    freed = put_under_lock(span, block, nullptr);
  } else {
    os::LockGuard guard(heap->lock);
    freed = put_under_lock(span, block, heap);
  }
  if (freed.run) core::release_run(freed.run, freed.order);
  if (freed.result != Put::kDone) {
    const Classification found{Verdict::kFreed, kSizeClasses[span->size_class].slot_bytes, freed.span_start, nullptr};
    core::report_misuse(Hz3::kName, misuse_of(freed.result), "free", block, found);
  }
  return freed.is_orphan;
}

bool purge_orphans(uint64_t now_ms, uint64_t delay_ms) {
  const uint64_t changed_at = orphans.changed_at.load(std::memory_order_relaxed);
  if (changed_at == 0) return false;
  if (now_ms < changed_at + delay_ms) return true;
  orphans.changed_at.store(0, std::memory_order_relaxed);
  discard_orphan_pages();
  return false;
}

size_t discard_orphan_pages() {
  os::LockGuard guard(orphans.lock);
  size_t bytes = 0;
  for (List<Span>& list : orphans.partial) {
    for (Span* span = list.first(); span; span = span->next) bytes += discard_free_pages(span);
  }
  return bytes;
}

}  // namespace hakozuna::hz3
