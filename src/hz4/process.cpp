// What concerns the process as a whole: fork and statistics.
#include "common/core/memory_statistics.h"
#include "hz4/exchange.h"
#include "hz4/heaps.h"
#include "hz4/messages.h"
#include "hz4/orphans.h"

namespace hakozuna::hz4 {
namespace {

// The locks that are one of a kind, in ascending rank, but for the registry's, which goes before those of the heaps. The locks of other heaps' caches
// are left out: what is in them is found again in the child by looking for runs without a span.
template <class Operation>
void for_each_single_lock(Operation&& operation) {
  operation(thread_heap->runs.lock());
  operation(mem::large_blocks.lock());
  operation(mem::chunk_supply.lock());
  operation(mem::page_map.lock());
  operation(mem::metadata.lock());
}

// The locks of all heaps, those included that a purging thread is late with.
template <class Operation>
void for_each_heap_lock(Operation&& operation) {
  const auto visit = [&](Heap* heap) { operation(heap->lock); };
  Care::registry.for_each_under_lock(visit);
}

template <class Operation>
void for_each_shelf_lock(Operation&& operation) {
  for (uint32_t c = 0; c < mem::kClassCount; ++c) operation(shelf_lock(c));
}

// Blocks of a class that are neither live nor in the list of their span. Exact while nothing is in motion.
uint64_t blocks_between(uint32_t size_class) {
  int64_t count = blocks_in_flight(size_class) + static_cast<int64_t>(blocks_on_shelf(size_class) + lost_blocks(size_class));
  Care::registry.for_each([&](const Heap* heap) { count += blocks_in_bins(heap, size_class); });
  return count > 0 ? static_cast<uint64_t>(count) : 0;
}

}  // namespace

void Hz4::fork_prepare() noexcept {
  Care::registry.lock().lock();
  for_each_heap_lock([](os::Lock& lock) { lock.lock_sibling(); });
  orphan_lock().lock();
  for_each_shelf_lock([](os::Lock& lock) { lock.lock_sibling(); });
  for_each_single_lock([](os::Lock& lock) { lock.lock(); });
}

void Hz4::fork_parent() noexcept {
  for_each_single_lock([](os::Lock& lock) { lock.unlock(); });
  for_each_shelf_lock([](os::Lock& lock) { lock.unlock_sibling(); });
  orphan_lock().unlock();
  for_each_heap_lock([](os::Lock& lock) { lock.unlock_sibling(); });
  Care::registry.lock().unlock();
}

void Hz4::fork_child() noexcept {
  for_each_single_lock([](os::Lock& lock) { lock.reset_after_fork(); });
  for_each_shelf_lock([](os::Lock& lock) { lock.reset_sibling_after_fork(); });
  orphan_lock().reset_after_fork();
  for_each_heap_lock([](os::Lock& lock) { lock.reset_sibling_after_fork(); });
  Care::registry.lock().reset_after_fork();
  forget_other_heaps_after_fork();
}

void Hz4::collect_statistics(hakozuna_statistics& s) noexcept {
  core::add_memory_statistics(s);
  uint64_t out[mem::kClassCount] = {};
  uint64_t resident = 0;
  mem::chunk_supply.for_each_run([&](char* record, char* run, uint32_t order) {
    const Span* const span = reinterpret_cast<const Span*>(record);
    const mem::ChunkSupply::Residency residency = mem::chunk_supply.residency(run, order);
    s.returned += residency.returned;
    s.untouched += residency.untouched;
    const uint32_t bin = racing_read(span->bin);
    if (bin == 0) {
      s.cached += residency.resident;
      return;
    }
    resident += residency.resident;
    out[class_of_bin(bin)] += racing_read(span->carved) - racing_read(span->free_count);
    ++s.spans;
    if (!span->owner.load(std::memory_order_relaxed)) ++s.orphan_spans;
  });
  uint64_t live = 0;
  for (uint32_t c = 0; c < mem::kClassCount; ++c) {
    if (out[c] == 0) continue;
    const uint64_t between = blocks_between(c);
    if (between < out[c]) live += (out[c] - between) * kSizeClasses[c].slot_bytes;
  }
  s.live += live;
  s.free_in_spans += resident - live;
  Care::add_statistics(s);
}

bool Hz4::collect_class_statistics(size_t index, hakozuna_class_statistics& s) noexcept {
  if (index >= mem::kClassCount) return false;
  const uint32_t size_class = static_cast<uint32_t>(index);
  const mem::SizeClass& geometry = kSizeClasses[size_class];
  s = {geometry.slot_bytes, 0, 0, 0};
  uint64_t out = 0;
  mem::chunk_supply.for_each_run([&](char* record, char*, uint32_t) {
    const Span* const span = reinterpret_cast<const Span*>(record);
    if (racing_read(span->bin) != bin_of(size_class)) return;
    ++s.spans;
    out += racing_read(span->carved) - racing_read(span->free_count);
  });
  const uint64_t between = blocks_between(size_class);
  s.live_slots = out > between ? out - between : 0;
  s.free_slots = s.spans * geometry.slot_count - s.live_slots;
  return true;
}

}  // namespace hakozuna::hz4
