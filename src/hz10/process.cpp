// What concerns the process as a whole: fork and statistics.
#include "common/core/memory_statistics.h"
#include "hz10/bins.h"
#include "hz10/depots.h"
#include "hz10/heaps.h"

namespace hakozuna::hz10 {
namespace {

// Every lock but those of other heaps' caches, in ascending rank. What is in the caches of other threads is found again in the child
// by looking for runs without a span; the forking thread's own, which a purging thread may be at, stays as it is.
template <class Single, class Peer>
void for_each_lock(Single&& single, Peer&& peer) {
  single(Care::registry.lock());
  for (uint32_t c = 0; c < mem::kClassCount; ++c) peer(depots[c].lock);
  single(thread_heap->runs.lock());
  single(mem::large_blocks.lock());
  single(mem::chunk_supply.lock());
  single(mem::page_map.lock());
  single(mem::metadata.lock());
}

// Calls visit(class, count) for the blocks that are neither live nor free in their spans: in the bins of all threads and in stashes.
template <class Visitor>
void for_each_cached(Visitor&& visit) {
  Care::registry.for_each([&](const Heap* heap) {
    for (uint32_t c = 0; c < mem::kClassCount; ++c) visit(c, count_of(heap, c));
  });
  for (uint32_t c = 0; c < mem::kClassCount; ++c) visit(c, racing_read(depots[c].stash_count));
}

const Span* span_of_record(const char* record) { return reinterpret_cast<const ChunkEntry*>(record)->span(); }

}  // namespace

void Hz10::fork_prepare() noexcept {
  for_each_lock([](os::Lock& lock) { lock.lock(); }, [](os::Lock& lock) { lock.lock_sibling(); });
}

void Hz10::fork_parent() noexcept {
  for_each_lock([](os::Lock& lock) { lock.unlock(); }, [](os::Lock& lock) { lock.unlock_sibling(); });
}

void Hz10::fork_child() noexcept {
  for_each_lock([](os::Lock& lock) { lock.reset_after_fork(); }, [](os::Lock& lock) { lock.reset_sibling_after_fork(); });
  forget_other_heaps_after_fork();
}

void Hz10::collect_statistics(hakozuna_statistics& s) noexcept {
  core::add_memory_statistics(s);
  uint64_t live = 0;
  uint64_t resident = 0;
  mem::chunk_supply.for_each_run([&](char* record, char* run, uint32_t order) {
    const Span* const span = span_of_record(record);
    const mem::ChunkSupply::Residency residency = mem::chunk_supply.residency(run, order);
    s.returned += residency.returned;
    s.untouched += residency.untouched;
    if (!span) {
      s.cached += residency.resident;
      return;
    }
    live += uint64_t{used_slots(span)} * span->slot_bytes;
    resident += residency.resident;
    ++s.spans;
  });
  for_each_cached([&](uint32_t c, uint32_t count) { live -= uint64_t{count} * mem::slot_bytes_of(c); });
  s.live += live;
  s.free_in_spans += resident - live;
  Care::add_statistics(s);
}

bool Hz10::collect_class_statistics(size_t index, hakozuna_class_statistics& s) noexcept {
  if (index >= mem::kClassCount) return false;
  s = {kSizeClasses[index].slot_bytes, 0, 0, 0};
  mem::chunk_supply.for_each_run([&s, index](char* record, char*, uint32_t) {
    const Span* const span = span_of_record(record);
    if (!span || span->size_class != index) return;
    ++s.spans;
    s.live_slots += used_slots(span);
    s.free_slots += span->slot_count - used_slots(span);
  });
  for_each_cached([&s, index](uint32_t c, uint32_t count) {
    if (c != index) return;
    s.live_slots -= count;
    s.free_slots += count;
  });
  return true;
}

}  // namespace hakozuna::hz10
