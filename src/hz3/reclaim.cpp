#include "hz3/reclaim.h"

#include "hz3/heaps.h"
#include "hz3/remote.h"
#include "hz3/span_access.h"

namespace hakozuna::hz3 {
namespace {

// Ticks a span stays untouched before its free pages are returned: what is in use is not returned between two uses.
constexpr uint8_t kIdleTicks = 2;

}  // namespace

void count_event(Heap* heap, uint32_t events_per_look) {
  if (heap == &no_heap) return;
  if (heap->tick_due == 0 || ++heap->events >= events_per_look) Care::look_at_clock(heap);
}

void empty_caches(Heap* heap) {
  send_all(heap);
  SpanAccess access(heap);
  access.collect(UINT32_MAX, /*into_bins=*/false);
  for (uint32_t c = 0; c < mem::kClassCount; ++c) access.empty_bin(c, 0);
}

bool HeapKind::tick(Heap* heap) {
  send_all(heap);
  // Those it was sent to may be asleep: until the next tick there is somebody who looks after them.
  const bool has_sent = heap->has_sent;
  heap->has_sent = false;
  heap->class_growth.tick();
  SpanAccess access(heap);
  access.collect(UINT32_MAX, /*into_bins=*/false);
  for (uint32_t c = 0; c < mem::kClassCount; ++c) {
    // Some are kept where they are small: emptied and filled again, the bins of a busy thread would keep it busy with its timer.
    access.empty_bin(c, c < mem::kSmallClassCount ? first_bound(c) : 0);
  }
  restore_bounds(heap);
  access.discard_idle_pages(kIdleTicks);
  return has_sent || heap->dirty.load(std::memory_order_relaxed);
}

size_t HeapKind::flush(Heap* heap) {
  empty_caches(heap);
  reset_bins(heap);
  SpanAccess access(heap);
  return access.discard_idle_pages(0);
}

// Another thread does for a sleeping owner what that would do at a tick, but for its bins and outboxes, which are bounded.
size_t HeapKind::serve_sleeping(Heap* heap) {
  SpanAccess access(heap);
  access.collect(UINT32_MAX, /*into_bins=*/false);
  return access.discard_idle_pages(0);
}

void Hz3::thread_flush() noexcept {
  Heap* const heap = thread_heap;
  if (heap != &no_heap) Care::flush(heap);
}

void Hz3::purge() noexcept { Care::purge_shared(); }

size_t Hz3::trim(size_t keep_bytes) noexcept { return Care::trim(keep_bytes); }

}  // namespace hakozuna::hz3
