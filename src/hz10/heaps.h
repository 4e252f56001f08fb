// Thread heaps of hz10: what core/heap_care.h is to do with them.
#pragma once

#include "common/core/heap_care.h"
#include "hz10/hz10.h"

namespace hakozuna::hz10 {

struct HeapKind {
  using Heap = hz10::Heap;
  static constexpr size_t kRecordBytes = sizeof(ChunkEntry);
  static constexpr size_t kFastLimit = mem::kSmallLimit;
  static auto& mine() { return thread_heap; }
  static Heap& none() { return no_heap; }
  static void start(Heap* heap);
  static void end(Heap* heap);
  static void deliver_late(Heap* heap);
  static bool has_queued(const Heap*) { return false; }  // nobody leaves anything for another thread
  static bool tick(Heap* heap);
  static size_t flush(Heap* heap);
  static size_t serve_sleeping(Heap*) { return 0; }  // what is in a sleeper's bins is bounded, and its own
  static bool purge_orphans(uint64_t now_ms, uint64_t delay_ms);
  static size_t discard_orphan_pages();
};

using Care = core::HeapCare<HeapKind>;

// Count slow events of the heap, and do now and then what is due. Blocks that came back arm the timer; a refill leaves nothing to do later.
void count_spill(Heap* heap);
void count_refill(Heap* heap);

// In a forked child: the other threads are gone, whatever they were doing.
void forget_other_heaps_after_fork();

}  // namespace hakozuna::hz10
