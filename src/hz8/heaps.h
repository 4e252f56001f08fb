// Thread heaps of hz8: what core/heap_care.h is to do with them.
#pragma once

#include "common/core/heap_care.h"
#include "hz8/hz8.h"

namespace hakozuna::hz8 {

struct HeapKind {
  using Heap = hz8::Heap;
  static constexpr size_t kRecordBytes = sizeof(Span);
  static constexpr size_t kFastLimit = mem::kSmallLimit;
  static constexpr bool kCountsFrees = true;  // kQuietFrees
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

// In a forked child: the other threads are gone, whatever they were doing.
void forget_other_heaps_after_fork();

}  // namespace hakozuna::hz8
