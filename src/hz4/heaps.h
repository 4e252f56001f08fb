// Thread heaps of hz4: what core/heap_care.h is to do with them.
#pragma once

#include "common/core/heap_care.h"
#include "hz4/hz4.h"

namespace hakozuna::hz4 {

struct HeapKind {
  using Heap = hz4::Heap;
  static constexpr size_t kRecordBytes = sizeof(Span);
  static constexpr size_t kFastLimit = mem::kSmallLimit;
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

inline Heap* own_heap() { return Care::own_heap(); }

// Counts a slow event of the heap, and does at every `events_per_look`th what is due.
void count_event(Heap* heap, uint32_t events_per_look);

// Sends everything in the heap's bins and reserves home.
void empty_bins(Heap* heap);

// How many blocks are in a bin and its reserve. Exact while the heap's thread rests.
uint32_t blocks_in_bins(const Heap* heap, uint32_t size_class);

// In a forked child: the other threads are gone, whatever they were doing.
void forget_other_heaps_after_fork();

// Blocks of the class that were in bins and messages of threads that a forked child does not have.
uint64_t lost_blocks(uint32_t size_class);

}  // namespace hakozuna::hz4
