#include "hz4/heaps.h"

#include "hz4/exchange.h"
#include "hz4/messages.h"
#include "hz4/orphans.h"

namespace hakozuna::hz4 {

constinit Heap no_heap{};
constinit HAKOZUNA_THREAD_LOCAL os::ThreadLocal<Heap*, &no_heap, struct ThreadHeapName> thread_heap{&no_heap};

namespace {

// Blocks a forked child has lost. Written by its only thread.
constinit uint64_t lost[mem::kClassCount] = {};

// The calling thread's heap, null if it has none.
Heap* self() {
  Heap* const heap = thread_heap;
  return heap == &no_heap ? nullptr : heap;
}

void give_up_spans(Heap* heap) {
  EmptyRuns empty;
  {
    os::LockGuard guard(heap->lock);
    for (List<Span>& partial : heap->partial) {
      while (Span* const span = partial.pop_front()) make_orphan(span, empty);
    }
    while (Span* const span = heap->full.pop_front()) make_orphan(span, empty);
  }
  release_runs(empty, nullptr);
}

// Serves all heaps that have messages but the caller's.
void serve_all() {
  constexpr uint32_t kBatch = 64;
  for (uint32_t count = kBatch; count == kBatch;) {
    Heap* batch[kBatch];
    count = 0;
    Care::registry.for_each([&](Heap* heap) {
      if (count < kBatch && heap != thread_heap && HeapKind::has_queued(heap)) batch[count++] = heap;
    });
    for (uint32_t i = 0; i < count; ++i) serve(batch[i], self());
  }
}

}  // namespace

void HeapKind::start(Heap* heap) {
  heap->rooms[0] = 0;
  for (uint32_t c = 0; c < mem::kClassCount; ++c) heap->rooms[bin_of(c)] = bin_capacity(c);
  heap->class_growth.tick();
}

void HeapKind::end(Heap* heap) {
  empty_bins(heap);
  send_home(take_messages(heap, heap), heap);
  give_up_spans(heap);
}

// Also what was sent by threads that read the owner of a span before it became an orphan.
void HeapKind::deliver_late(Heap* heap) {
  send_home(take_messages(heap, self()), self());
  // With the last thread but one goes the need for an exchange.
  if (Care::registry.at_most_one_serves()) empty_exchange(self());
}

bool HeapKind::has_queued(const Heap* heap) {
  if (has_messages(heap)) return true;
  for (const std::atomic<Block*>& held : heap->held) {
    if (held.load(std::memory_order_relaxed)) return true;
  }
  return false;
}

bool HeapKind::tick(Heap* heap) {
  heap->class_growth.tick();
  empty_bins(heap);
  send_home(take_messages(heap, heap), heap);
  return false;
}

size_t HeapKind::flush(Heap* heap) {
  empty_bins(heap);
  empty_exchange(heap);
  send_home(take_messages(heap, heap), heap);
  return 0;
}

size_t HeapKind::serve_sleeping(Heap* heap) {
  serve(heap, self());
  return 0;
}

bool HeapKind::purge_orphans(uint64_t now_ms, uint64_t delay_ms) {
  // Half of the delay: what is surplus has been so since the look before, and empty runs stay for a delay of their own.
  return send_surplus_home(self(), now_ms, delay_ms / 2);
}

size_t HeapKind::discard_orphan_pages() {
  empty_exchange(self());
  serve_all();
  return 0;
}

void count_event(Heap* heap, uint32_t events_per_look) {
  if (heap == &no_heap || ++heap->events < events_per_look) return;
  Care::look_at_clock(heap);
}

void Hz4::thread_flush() noexcept {
  if (Heap* const heap = self()) Care::flush(heap);
}

void Hz4::purge() noexcept { Care::purge_shared(); }

size_t Hz4::trim(size_t keep_bytes) noexcept { return Care::trim(keep_bytes); }

uint32_t blocks_in_bins(const Heap* heap, uint32_t size_class) {
  if (size_class >= kBinnedClasses) return heap->held[size_class - kBinnedClasses].load(std::memory_order_relaxed) ? 1 : 0;
  return bin_capacity(size_class) - racing_read(heap->rooms[bin_of(size_class)]) + racing_read(heap->reserves[size_class].count);
}

uint64_t lost_blocks(uint32_t size_class) { return lost[size_class]; }

// The locks of all heaps are held, so their spans are whole; their bins and messages need not be: a thread may have been in the middle of a list, and
// the pages of the lists were copied one after the other.
void forget_other_heaps_after_fork() {
  Heap* const mine = thread_heap;
  for (uint32_t c = 0; c < mem::kClassCount; ++c) {
    int64_t count = blocks_in_flight(c);
    const auto add_bins = [&](const Heap* heap) {
      if (heap != mine) count += blocks_in_bins(heap, c);
    };
    Care::registry.for_each(add_bins);
    if (count > 0) lost[c] += static_cast<uint64_t>(count);
    forget_messages_in_flight(c);
  }
  if (mine != &no_heap) mine->inbox.store(nullptr, std::memory_order_relaxed);
  Care::registry.retire_others(mine);
  Care::registry.for_each_ended([](Heap* heap) {
    for (Block*& head : heap->heads) head = nullptr;
    for (Chain& reserve : heap->reserves) reserve = {};
    heap->reserve_bytes = 0;
    for (std::atomic<Block*>& held : heap->held) held.store(nullptr, std::memory_order_relaxed);
    heap->inbox.store(nullptr, std::memory_order_relaxed);
    heap->runs.forget_after_fork();
  });
  Heap* gone = nullptr;
  EmptyRuns empty;
  do {
    gone = nullptr;
    Care::registry.for_each_ended([&](Heap* heap) {
      if (!gone && heap->has_spans()) gone = heap;
    });
    if (gone) give_up_spans(gone);
  } while (gone);
  // Runs that had left the supply and were no spans yet, or no more. The walk must not change the runs it goes over.
  mem::chunk_supply.for_each_run([&](char* record, char* run, uint32_t order) {
    Span* const span = reinterpret_cast<Span*>(record);
    if (racing_read(span->bin) != 0) return;
    if (mine != &no_heap && mine->runs.keeps(run)) return;
    span->run = run;
    span->carved = order;  // for release_runs()
    span->next = empty.first;
    empty.first = span;
  });
  release_runs(empty, nullptr);
}

}  // namespace hakozuna::hz4
