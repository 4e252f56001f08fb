#include "common/core/large.h"
#include "hz3/heaps.h"
#include "hz3/hz3.h"
#include "hz3/orphans.h"
#include "hz3/reclaim.h"
#include "hz3/remote.h"
#include "hz3/span_access.h"

namespace hakozuna::hz3 {
namespace {

// Slow events between looks at the clock: as many spans may become empty unnoticed by the timers.
constexpr uint32_t kEventsPerLook = 16;

// How far a bin's bound is raised when its blocks go to the spans and come back, and how much of that a heap allows itself.
constexpr size_t kMostBinBytes = size_t{256} << 10;
constexpr size_t kMostGrowth = size_t{1} << 20;

void report(core::Misuse misuse, const void* block) {
  core::report_misuse(Hz3::kName, misuse, "free", block, Hz3::classify(block));
}

// A pointer into no span.
void deallocate_other(void* block) {
  if (mem::LargeBlock* const large = mem::large_blocks.find(block)) {
    core::deallocate_large(Hz3::kName, large, block, "free");
    count_event(thread_heap, kEventsPerLook);
  } else if (mem::chunk_supply.in_reserved_space(block)) {
    report(core::Misuse::kMetadataPointer, block);
  } else {
    os::underlying_free(block);
  }
}

// Raises the bound of a bin that was too full, was empty, and is too full again: what goes to the spans would only come back.
bool grow(Heap* heap, uint32_t size_class) {
  Bin& bin = heap->bin(size_class);
  const size_t more = static_cast<size_t>(bin.bound) * kSizeClasses[size_class].slot_bytes;
  if (!heap->refilled[size_class] || 2 * more > kMostBinBytes || heap->growth + more > kMostGrowth) return false;
  heap->refilled[size_class] = false;
  heap->growth += more;
  bin.room += bin.bound;
  bin.bound *= 2;
  return bin.bound != 0;
}

}  // namespace

void overflow(Door* door) noexcept {
  Heap* const heap = door->heap;
  const uint32_t size_class = class_of_door(door);
  if (grow(heap, size_class)) return;
  heap->refilled[size_class] = false;
  SpanAccess(heap).empty_bin(size_class, static_cast<uint32_t>(heap->bin(size_class).bound) / 2);
  count_event(heap, kEventsPerLook);
}

void deallocate_slow(void* block) noexcept {
  if (!block) return;
  for (;;) {
    Door* const door = door_at(block);
    if (is_closed(door)) return deallocate_other(block);
    const uint32_t size_class = class_of_door(door);
    const Position at = locate(block, size_class);
    if (!at.exact) return report(core::misuse_of(verdict_inside(at, block)), block);
    Heap* const heap = thread_heap;
    if (is_nobodys(door)) {
      if (!free_orphan(block, heap)) continue;  // adopted meanwhile
    } else if (door->heap == heap) {
      // In a region other than the primary one, or of a thread whose door was never opened.
      if (!push(Bins::behind(door), block)) overflow(door);
      return;
    } else {
      free_remotely(heap, block, door->heap, kSizeClasses[size_class].slot_bytes);
    }
    count_event(heap, kEventsPerLook);
    return;
  }
}

Classification Hz3::classify(const void* address) noexcept {
  Classification result;
  Door* const door = door_at(address);
  if (is_closed(door)) {
    if (const mem::LargeBlock* const large = mem::large_blocks.find(address)) return core::classify_large(large, address);
    result.verdict = mem::chunk_supply.in_reserved_space(address) ? Verdict::kMetadata : Verdict::kMiss;
    return result;
  }
  const uint32_t size_class = class_of_door(door);
  const Position at = locate(address, size_class);
  result.span = at.span->run;
  result.usable_bytes = kSizeClasses[size_class].slot_bytes;
  result.owner = door->heap;
  if (!at.exact) {
    result.verdict = verdict_inside(at, address);
  } else {
    // Blocks in caches of other threads, and those deep in our own, cannot be told from live ones.
    const bool on_top = door->heap == thread_heap && Bins::behind(door).head == address;
    result.verdict = on_top || is_free(at.span, at.slot) ? Verdict::kFreed : Verdict::kValid;
  }
  return result;
}

size_t Hz3::usable_size(const void* address) noexcept {
  const Classification found = classify(address);
  return found.verdict == Verdict::kValid ? found.usable_bytes : 0;
}

size_t Hz3::good_size(size_t size) noexcept {
  return size <= mem::kMaxSlotBytes ? mem::slot_bytes_of(mem::class_of(size)) : mem::LargeBlocks::mapping_bytes(size);
}

}  // namespace hakozuna::hz3
