// Thread heaps of hz3: what core/heap_care.h is to do with them.
#pragma once

#include "common/core/heap_care.h"
#include "hz3/hz3.h"

namespace hakozuna::hz3 {

struct HeapKind {
  using Heap = hz3::Heap;
  static constexpr size_t kRecordBytes = sizeof(Span);
  static constexpr size_t kFastLimit = hz3::kFastLimit;
  static auto& mine() { return thread_heap; }
  static Heap& none() { return no_heap; }
  static void start(Heap* heap);
  static void end(Heap* heap);
  static void deliver_late(Heap* heap);
  static bool has_queued(const Heap* heap);
  static bool tick(Heap* heap);
  static size_t flush(Heap* heap);
  static size_t serve_sleeping(Heap* heap);
  static bool purge_orphans(uint64_t now_ms, uint64_t delay_ms);
  static size_t discard_orphan_pages();
};

using Care = core::HeapCare<HeapKind>;

// The calling thread's heap, made if it has none; null without memory.
Heap* own_heap();

// All heaps there are, whether they serve or not.
Heap* newest_heap();
template <class Visitor>
void for_each_heap(Visitor&& visit) {
  for (Heap* heap = newest_heap(); heap; heap = heap->next_of_all) visit(heap);
}

// How many blocks a bin may hold before allocations have raised that.
uint32_t first_bound(uint32_t size_class);

// Every bin as it is at the start: empty, with its class's bound.
void reset_bins(Heap* heap);

// Takes back what the bounds of bins were raised by. The bins hold no more than they may without.
void restore_bounds(Heap* heap);

// In a forked child: the other threads are gone, whatever they were doing.
void forget_other_heaps_after_fork();

}  // namespace hakozuna::hz3
