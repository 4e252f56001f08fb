// What concerns the process as a whole: fork and statistics.
#include "common/core/memory_statistics.h"
#include "hz3/heaps.h"
#include "hz3/hz3.h"
#include "hz3/orphans.h"
#include "hz3/remote.h"
#include "hz3/span_access.h"

namespace hakozuna::hz3 {
namespace {

// Every lock but those of the heaps and of other heaps' caches of runs, in ascending rank behind the registry's. What is in the caches of other
// threads is found again in the child by looking for runs without a span; the forking thread's own, which a purging thread may be at, stays as it is.
template <class Operation>
void for_each_lock(Operation&& operation) {
  operation(orphan_lock());
  operation(thread_heap->runs.lock());
  operation(mem::large_blocks.lock());
  operation(mem::chunk_supply.lock());
  operation(mem::page_map.lock());
  operation(mem::bitmap_pool.lock());
  operation(door_table_lock());
  operation(mem::metadata.lock());
}

using BlockCounts = uint64_t[mem::kClassCount];

// Counts the blocks of a chain. It may change or be handed out while this looks at it: then the figures are wrong, but nothing is read that is not
// ours, and there is an end.
void count_chain(void* block, uint64_t limit, BlockCounts& counts) {
  for (; block && limit != 0; --limit) {
    const Door* const door = door_at(block);
    if (is_closed(door) || !is_aligned(reinterpret_cast<uintptr_t>(block), mem::kMinAlignment)) return;
    ++counts[class_of_door(door)];
    block = racing_read(next_of(block));
  }
}

// The blocks that are neither with the program nor in their spans.
void count_cached(BlockCounts& counts) {
  const uint64_t limit = mem::mapped_total.load(std::memory_order_relaxed) / mem::kMinAlignment;
  for_each_heap([&](Heap* heap) {
    for (uint32_t c = 0; c < mem::kClassCount; ++c) {
      const int32_t count = racing_read(heap->bin(c).bound) - racing_read(heap->bin(c).room);
      if (count > 0) counts[c] += static_cast<uint64_t>(count);
    }
    for (const Outbox& box : heap->outboxes) count_chain(racing_read(box.first), racing_read(box.count), counts);
    count_chain(racing_read(heap->carried), limit, counts);
    count_chain(heap->stash.load(std::memory_order_acquire), limit, counts);
  });
}

}  // namespace

void Hz3::fork_prepare() noexcept {
  if (Heap* const heap = thread_heap; heap != &no_heap) {
    send_all(heap);
    SpanAccess(heap).collect(UINT32_MAX, /*into_bins=*/false);
  }
  Care::registry.lock().lock();
  // All there are: a new one comes into the list under the registry's lock.
  for_each_heap([](Heap* heap) { heap->lock.lock_sibling(); });
  for_each_lock([](os::Lock& lock) { lock.lock(); });
}

void Hz3::fork_parent() noexcept {
  for_each_lock([](os::Lock& lock) { lock.unlock(); });
  for_each_heap([](Heap* heap) { heap->lock.unlock_sibling(); });
  Care::registry.lock().unlock();
}

void Hz3::fork_child() noexcept {
  for_each_lock([](os::Lock& lock) { lock.reset_after_fork(); });
  for_each_heap([](Heap* heap) { heap->lock.reset_sibling_after_fork(); });
  Care::registry.lock().reset_after_fork();
  forget_other_heaps_after_fork();
}

void Hz3::collect_statistics(hakozuna_statistics& s) noexcept {
  core::add_memory_statistics(s);
  s.metadata += door_table_mapped_bytes();
  s.mapped += door_table_mapped_bytes();
  mem::chunk_supply.for_each_run([&s](char* record, char* run, uint32_t order) {
    const Span* const span = reinterpret_cast<const Span*>(record);
    const mem::ChunkSupply::Residency residency = mem::chunk_supply.residency(run, order);
    s.returned += residency.returned;
    s.untouched += residency.untouched;
    if (racing_read(span->state) == SpanState::kNone) {
      s.cached += residency.resident;
      return;
    }
    const mem::SizeClass& geometry = span->geometry();
    const uint64_t out = uint64_t{geometry.slot_count - racing_read(span->free_count)} * geometry.slot_bytes;
    s.live += out;
    s.free_in_spans += residency.resident - out;
    ++s.spans;
    if (!span->owner.load(std::memory_order_relaxed)) ++s.orphan_spans;
  });
  BlockCounts cached = {};
  count_cached(cached);
  for (uint32_t c = 0; c < mem::kClassCount; ++c) {
    const uint64_t bytes = cached[c] * kSizeClasses[c].slot_bytes;
    s.live -= bytes;
    s.free_in_spans += bytes;
  }
  Care::add_statistics(s);
}

bool Hz3::collect_class_statistics(size_t index, hakozuna_class_statistics& s) noexcept {
  if (index >= mem::kClassCount) return false;
  s = {kSizeClasses[index].slot_bytes, 0, 0, 0};
  mem::chunk_supply.for_each_run([&s, index](char* record, char*, uint32_t) {
    const Span* const span = reinterpret_cast<const Span*>(record);
    if (racing_read(span->state) == SpanState::kNone || span->size_class != index) return;
    const uint32_t slots = span->geometry().slot_count;
    const uint32_t free = racing_read(span->free_count);
    ++s.spans;
    s.live_slots += slots - free;
    s.free_slots += free;
  });
  BlockCounts cached = {};
  count_cached(cached);
  s.live_slots -= cached[index];
  s.free_slots += cached[index];
  return true;
}

}  // namespace hakozuna::hz3
