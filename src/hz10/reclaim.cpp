// Which memory can go back. core/heap_care.h has the timers that see to it.
//
// A thread's bins are halved at each tick after the last spill, until they are empty. In the depots, which no thread owns, a span that was not used
// for two passes returns its free pages, and its run if it is empty.
#include "common/core/options.h"
#include "hz10/bins.h"
#include "hz10/depots.h"
#include "hz10/heaps.h"

namespace hakozuna::hz10 {
namespace {

// After the last spill: as many halvings as empty the largest bin. A thread that goes on without spilling takes nothing from others; it is not
// to be disturbed for ever.
constexpr uint32_t kTicksAfterSpill = log2_floor(kLargestCapacity) + 2;

constexpr uint32_t kSpillsPerLook = 16;
constexpr uint32_t kRefillsPerLook = 64;

// Passes a span stays unused before its free pages are returned: what is in use is not returned between two uses.
constexpr uint8_t kIdlePasses = 2;

// Relaxed: only chooses when.
constinit std::atomic<uint64_t> next_pass_at{0};

}  // namespace

void count_spill(Heap* heap) {
  heap->quiet_ticks = 0;
  if (++heap->events >= kSpillsPerLook) Care::look_at_clock(heap);
}

void count_refill(Heap* heap) {
  if (++heap->refill_events < kRefillsPerLook) return;
  heap->refill_events = 0;
  Care::purge_shared();
}

bool HeapKind::tick(Heap* heap) {
  if (heap->quiet_ticks >= kTicksAfterSpill) return false;
  ++heap->quiet_ticks;
  halve_bins(heap);
  return true;
}

size_t HeapKind::flush(Heap* heap) {
  empty_bins(heap);
  return 0;
}

bool HeapKind::purge_orphans(uint64_t now_ms, uint64_t delay_ms) {
  const uint64_t interval = delay_ms / kIdlePasses;
  const uint64_t next = next_pass_at.load(std::memory_order_relaxed);
  if (now_ms < next && next - now_ms <= interval) return true;  // not so if the delay has been made shorter since
  next_pass_at.store(now_ms + interval, std::memory_order_relaxed);
  bool more = false;
  return_free_pages(kIdlePasses, more);
  return more;
}

size_t HeapKind::discard_orphan_pages() {
  release_empty_spans();
  bool more = false;
  return return_free_pages(0, more);
}

void Hz10::thread_flush() noexcept {
  Heap* const heap = thread_heap;
  if (heap != &no_heap) Care::flush(heap);
}

void Hz10::purge() noexcept { Care::purge_shared(); }

size_t Hz10::trim(size_t keep_bytes) noexcept { return Care::trim(keep_bytes); }

}  // namespace hakozuna::hz10
