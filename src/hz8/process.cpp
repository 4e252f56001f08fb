// What concerns the process as a whole: fork and statistics.
#include "common/core/memory_statistics.h"
#include "hz8/heaps.h"
#include "hz8/hz8.h"
#include "hz8/orphans.h"
#include "hz8/spans.h"

namespace hakozuna::hz8 {
namespace {

// Every lock but those of other heaps' caches, in ascending rank. What is in the caches of other threads is found again in the child
// by looking for runs without a span; the forking thread's own, which a purging thread may be at, stays as it is.
template <class Operation>
void for_each_lock(Operation&& operation) {
  operation(Care::registry.lock());
  operation(orphan_lock());
  operation(thread_heap->runs.lock());
  operation(mem::large_blocks.lock());
  operation(mem::chunk_supply.lock());
  operation(mem::page_map.lock());
  operation(mem::bitmap_pool.lock());
  operation(mem::metadata.lock());
}

}  // namespace

void Hz8::fork_prepare() noexcept {
  for_each_lock([](os::Lock& lock) { lock.lock(); });
}

void Hz8::fork_parent() noexcept {
  for_each_lock([](os::Lock& lock) { lock.unlock(); });
}

void Hz8::fork_child() noexcept {
  for_each_lock([](os::Lock& lock) { lock.reset_after_fork(); });
  forget_other_heaps_after_fork();
}

void Hz8::collect_statistics(hakozuna_statistics& s) noexcept {
  core::add_memory_statistics(s);
  mem::chunk_supply.for_each_run([&s](char* record, char* run, uint32_t order) {
    const Span* const span = reinterpret_cast<const Span*>(record);
    const mem::ChunkSupply::Residency residency = mem::chunk_supply.residency(run, order);
    s.returned += residency.returned;
    s.untouched += residency.untouched;
    if (span->state == SpanState::kNone) {
      s.cached += residency.resident;
      return;
    }
    const uint64_t live = uint64_t{allocated_slots(span) - pending_slots(span)} * span->slot_bytes;
    s.live += live;
    s.free_in_spans += residency.resident - live;
    ++s.spans;
    if (!span->owner.load(std::memory_order_relaxed)) ++s.orphan_spans;
  });
  Care::add_statistics(s);
}

bool Hz8::collect_class_statistics(size_t index, hakozuna_class_statistics& s) noexcept {
  if (index >= mem::kClassCount) return false;
  s = {kSizeClasses[index].slot_bytes, 0, 0, 0};
  mem::chunk_supply.for_each_run([&s, index](char* record, char*, uint32_t) {
    const Span* const span = reinterpret_cast<const Span*>(record);
    if (span->state == SpanState::kNone || span->size_class != index) return;
    const uint64_t live = allocated_slots(span) - pending_slots(span);
    ++s.spans;
    s.live_slots += live;
    s.free_slots += span->slot_count - live;
  });
  return true;
}

}  // namespace hakozuna::hz8
