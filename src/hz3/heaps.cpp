#include "hz3/heaps.h"

#include <string.h>

#include <array>

#include "common/core/options.h"
#include "hz3/orphans.h"
#include "hz3/reclaim.h"
#include "hz3/remote.h"
#include "hz3/span_access.h"

namespace hakozuna::hz3 {

constinit Heap no_heap;
constinit HAKOZUNA_THREAD_LOCAL os::ThreadLocal<Heap*, &no_heap, struct ThreadHeapName> thread_heap{&no_heap};

namespace {

// What a bin may hold at first: a page, so that a thread which only frees gives back what it frees. Allocations raise it (allocation.cpp). Classes
// beyond the fast path have no bins: a block that is kept there costs more than the way to its span.
constexpr size_t kFirstBytes = 4096;

constexpr auto kFirstBounds = [] {
  std::array<int32_t, mem::kClassCount> bounds{};
  for (uint32_t c = 0; c < mem::kClassCount; ++c) {
    const size_t blocks = kFirstBytes / mem::slot_bytes_of(c);
    bounds[c] = mem::slot_bytes_of(c) > kFastLimit ? 0 : blocks == 0 ? 1 : static_cast<int32_t>(blocks);
  }
  return bounds;
}();

constexpr auto kPlaceOfSize = [] {
  std::array<uint8_t, kFastSizes> places{};
  for (size_t i = 0; i < kFastSizes; ++i) {
    places[i] = static_cast<uint8_t>(mem::class_of(i * mem::kMinAlignment) * sizeof(Bin) / 8);
  }
  return places;
}();

// All heaps there are, the newest first: grows under the registry's lock; release after the heap is complete, acquire.
constinit std::atomic<Heap*> all_heaps{nullptr};

// Opens the heap's doors to its thread. A thread of whose end there will be no notice finds them closed: another might have its thread pointer before the heap is
// found to be abandoned.
void enter(Heap* heap) {
  if (!heap->door(0)->heap) {
    // Under the lock: a fork in between would leave the child a heap that is in no list.
    os::LockGuard guard(Care::registry.lock());
    for (Door& door : heap->bins.door) door.heap = heap;
    Heap* const newest = all_heaps.load(std::memory_order_relaxed);
    heap->next_of_all = newest;
    heap->number = newest ? newest->number + 1 : 0;
    all_heaps.store(heap, std::memory_order_release);
  }
  if (heap->after_exit) return;
  for (Door& door : heap->bins.door) door.thread.store(arch::thread_pointer(), std::memory_order_relaxed);
}

void close_doors(Heap* heap) {
  for (Door& door : heap->bins.door) door.thread.store(0, std::memory_order_relaxed);
}

}  // namespace

Heap* newest_heap() { return all_heaps.load(std::memory_order_acquire); }

Heap* own_heap() {
  Heap* heap = thread_heap;
  if (heap == &no_heap) {
    if (!initialise_doors()) return nullptr;
    heap = Care::own_heap();
    if (!heap) return nullptr;
  }
  if (heap->door(0)->thread.load(std::memory_order_relaxed) == 0) enter(heap);
  return heap;
}

uint32_t first_bound(uint32_t size_class) { return static_cast<uint32_t>(kFirstBounds[size_class]); }

void reset_bins(Heap* heap) {
  for (uint32_t c = 0; c < mem::kClassCount; ++c) {
    heap->bin(c) = {nullptr, kFirstBounds[c], kFirstBounds[c]};
    heap->refilled[c] = false;
  }
  heap->growth = 0;
}

void restore_bounds(Heap* heap) {
  for (uint32_t c = 0; c < mem::kClassCount; ++c) {
    Bin& bin = heap->bin(c);
    bin.room -= bin.bound - kFirstBounds[c];
    bin.bound = kFirstBounds[c];
  }
  heap->growth = 0;
}

void HeapKind::start(Heap* heap) {
  reset_bins(heap);
  heap->class_growth.tick();
  memcpy(heap->bins.place_of_size, kPlaceOfSize.data(), sizeof heap->bins.place_of_size);
  // seq_cst: see push_to_stash(). What arrives from now on, this thread collects; what arrived before, too.
  heap->serving.store(true, std::memory_order_seq_cst);
}

void HeapKind::end(Heap* heap) {
  send_all(heap);
  {
    SpanAccess access(heap);
    access.collect(UINT32_MAX, /*into_bins=*/false);
    for (uint32_t c = 0; c < mem::kClassCount; ++c) access.empty_bin(c, 0);
    access.orphan_all();
  }
  close_doors(heap);
  // seq_cst: before deliver_late() looks at the stash, and after the spans have other doors.
  heap->serving.store(false, std::memory_order_seq_cst);
}

void HeapKind::deliver_late(Heap* heap) { forward_stash(heap); }

bool HeapKind::has_queued(const Heap* heap) {
  return heap->stash.load(std::memory_order_seq_cst) || racing_read(heap->carried) ||
         heap->dirty.load(std::memory_order_seq_cst);
}

bool HeapKind::purge_orphans(uint64_t now_ms, uint64_t delay_ms) { return hz3::purge_orphans(now_ms, delay_ms); }

size_t HeapKind::discard_orphan_pages() { return hz3::discard_orphan_pages(); }

namespace {

// Empties the record of a heap whose thread did not survive the fork: its bins and outboxes may be half changed, and its spans are found by a walk.
void forget_contents(Heap* heap) {
  reset_bins(heap);
  close_doors(heap);
  for (Outbox& box : heap->outboxes) box = {};
  heap->outbox_bytes = 0;
  for (List<Span>& list : heap->partial) list.reset();
  heap->full.reset();
  heap->carried = nullptr;
  heap->dirty.store(false, std::memory_order_relaxed);
  heap->serving.store(false, std::memory_order_relaxed);
  heap->stash.store(nullptr, std::memory_order_relaxed);
  heap->runs.forget_after_fork();
}

}  // namespace

void forget_other_heaps_after_fork() {
  Heap* const mine = thread_heap;
  Care::registry.retire_others(mine);
  // Also those that had ended before: a purging thread may have been at their caches.
  for_each_heap([mine](Heap* heap) {
    if (heap != mine) forget_contents(heap);
  });
  // What others sent since fork_prepare(), which emptied it: those blocks stay allocated, as do those in the caches of the threads that are gone.
  if (mine != &no_heap) mine->stash.store(nullptr, std::memory_order_relaxed);
  // The spans are whole: nobody changed one while the locks were held. The walk must not change the runs it goes over: those to give back are
  // linked through their records and released afterwards.
  Span* to_release = nullptr;
  mem::chunk_supply.for_each_run([&](char* record, char* run, uint32_t order) {
    Span* const span = reinterpret_cast<Span*>(record);
    if (span->state == SpanState::kNone) {
      // In a cache of runs, or on its way there.
      if (mine != &no_heap && mine->runs.keeps(run)) return;
      span->run = run;
      span->one_word = order;
      span->next = to_release;
      to_release = span;
      return;
    }
    Heap* const owner = span->owner.load(std::memory_order_relaxed);
    if (owner && owner != mine) make_orphan(span);
  });
  while (Span* const span = to_release) {
    to_release = span->next;
    span->next = nullptr;
    core::release_run(span->run, static_cast<uint32_t>(span->one_word));
  }
}

}  // namespace hakozuna::hz3
