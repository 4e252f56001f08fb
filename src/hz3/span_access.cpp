#include "hz3/span_access.h"

#include "common/core/options.h"
#include "hz3/heaps.h"
#include "hz3/orphans.h"
#include "hz3/remote.h"

namespace hakozuna::hz3 {

SpanAccess::~SpanAccess() {
  heap_->lock.unlock();
  const bool mine = heap_ == thread_heap;
  while (Span* const span = empty_) {
    empty_ = span->next;
    span->next = nullptr;
    const uint32_t order = span->geometry().order;
    if (mine) {
      heap_->runs.put(span->run, order, core::retain_bytes());
    } else {
      core::release_run(span->run, order);
    }
  }
  while (void* const block = elsewhere_) {
    elsewhere_ = next_of(block);
    deliver(block);
  }
}

void SpanAccess::note(Put what, void* block, const Span* span) {
  notes_.add(misuse_of(what), block, {Verdict::kFreed, span->geometry().slot_bytes, span->run, heap_});
}

bool SpanAccess::put(void* block, uint32_t size_class) {
  Span* const span = locate(block, size_class).span;
  // The span may be gone, if all its blocks are in it and this is one of them a second time.
  if (span->owner.load(std::memory_order_relaxed) != heap_ || span->size_class != size_class) [[unlikely]] {
    note(Put::kFreed, block, span);
    return false;
  }
  const Put result = put_block(span, block);
  if (result != Put::kDone) [[unlikely]] {
    note(result, block, span);
    return false;
  }
  if (span->state == SpanState::kFull) {
    heap_->full.remove(span);
    span->state = SpanState::kPartial;
    heap_->partial[size_class].push_front(span);
    heap_->dirty.store(true, std::memory_order_relaxed);
  }
  if (is_empty(span)) {
    heap_->partial[size_class].remove(span);
    unmake_span(span);
    span->next = empty_;
    empty_ = span;
  }
  return true;
}

void SpanAccess::empty_bin(uint32_t size_class, uint32_t keep) {
  Bin& bin = heap_->bin(size_class);
  void* block = bin.head;
  for (uint32_t count = bin.count(); count > keep; --count) {
    void* const next = next_of(block);
    if (!put(block, size_class)) [[unlikely]] {
      // Freed twice: the links of the bin's blocks cannot be trusted any more. Those that are left are lost.
      block = nullptr;
      bin.room = bin.bound;
      break;
    }
    ++bin.room;
    block = next;
  }
  bin.head = block;
}

void SpanAccess::collect(uint32_t budget, bool into_bins) {
  void* block = heap_->carried;
  uint32_t collected = 0;
  for (; collected < budget; ++collected) {
    if (!block) {
      if (!heap_->stash.load(std::memory_order_relaxed)) break;
      // acquire: pairs with the push in send_chain().
      block = heap_->stash.exchange(nullptr, std::memory_order_acquire);
      if (!block) break;
    }
    void* const next = next_of(block);
    __builtin_prefetch(ahead_of(block), 1);
    Door* const door = door_at(block);
    if (door->heap != heap_) [[unlikely]] {
      // Sent when the span was this heap's. Or an orphan that nobody owns.
      next_of(block) = elsewhere_;
      elsewhere_ = block;
    } else {
      const uint32_t size_class = class_of_door(door);
      Bin& bin = Bins::behind(door);
      const Position at = locate(block, size_class);
      // A block that is in its span already is left to put(), which reports it.
      if (into_bins && bin.room > 0 && !is_free(at.span, at.slot)) {
        push(bin, block);
      } else {
        put(block, size_class);
      }
    }
    block = next;
  }
  heap_->carried = block;
  if (collected != 0) core::count(heap_->remote_frees, collected);
}

Span* SpanAccess::adopt(uint32_t size_class) {
  Span* const span = take_orphan(size_class, heap_);
  if (!span) return nullptr;
  heap_->partial[size_class].push_front(span);
  heap_->dirty.store(true, std::memory_order_relaxed);
  core::count(heap_->adopted_spans, 1);
  return span;
}

Span* SpanAccess::carve(uint32_t size_class) {
  const uint32_t order = kSizeClasses[size_class].order;
  char* const run = heap_->runs.take(order, core::limit_bytes());
  if (!run) return nullptr;
  heap_->class_growth.note(run, size_class, order);
  Span* const span = record_of_run(run);
  if (!make_span(span, run, size_class, heap_)) {
    span->next = empty_;  // goes back
    empty_ = span;
    return nullptr;
  }
  heap_->partial[size_class].push_front(span);
  return span;
}

Taken SpanAccess::refill(uint32_t size_class) {
  Span* span = heap_->partial[size_class].first();
  if (!span) span = adopt(size_class);
  if (!span) span = carve(size_class);
  if (!span) return {};
  const Taken taken = take_blocks(span, static_cast<uint32_t>(heap_->bin(size_class).room) + 1);
  if (span->free_count == 0) {
    heap_->partial[size_class].remove(span);
    span->state = SpanState::kFull;
    heap_->full.push_front(span);
  }
  return taken;
}

void SpanAccess::orphan_all() {
  for (List<Span>& list : heap_->partial) {
    while (Span* const span = list.pop_front()) make_orphan(span);
  }
  while (Span* const span = heap_->full.pop_front()) make_orphan(span);
  heap_->dirty.store(false, std::memory_order_relaxed);
}

size_t SpanAccess::discard_idle_pages(uint8_t idle_ticks) {
  constexpr uint8_t kDone = UINT8_MAX;
  size_t bytes = 0;
  bool more = false;
  for (List<Span>& list : heap_->partial) {
    for (Span* span = list.first(); span; span = span->next) {
      if (span->idle_ticks == kDone) continue;
      if (span->idle_ticks < idle_ticks) {
        ++span->idle_ticks;
        more = true;
        continue;
      }
      bytes += discard_free_pages(span);
      span->idle_ticks = kDone;
    }
  }
  heap_->dirty.store(more, std::memory_order_relaxed);
  return bytes;
}

}  // namespace hakozuna::hz3
