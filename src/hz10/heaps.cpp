#include "hz10/heaps.h"

#include "hz10/bins.h"
#include "hz10/depots.h"

namespace hakozuna::hz10 {

constinit Heap no_heap;
constinit HAKOZUNA_THREAD_LOCAL os::ThreadLocal<Heap*, &no_heap, struct ThreadHeapName> thread_heap{&no_heap};

// Without memory for the arrays the bins stay as small as they begin.
void HeapKind::start(Heap* heap) {
  if (!heap->arrays) heap->arrays = static_cast<void**>(mem::metadata.allocate(kArrayEntries * sizeof(void*)));
  reset_bins(heap);
}

void HeapKind::end(Heap* heap) { empty_bins(heap); }

// Nothing arrives late. But what was kept for other threads is of no use when there are none. As much as a span of each class up to 64 KiB is left
// to the timers: system calls for a few pages each would cost more than the work of a short-lived thread.
void HeapKind::deliver_late(Heap*) {
  constexpr size_t kLeftToTimers = size_t{32} << 20;
  if (span_bytes.load(std::memory_order_relaxed) > kLeftToTimers && Care::registry.at_most_one_serves()) release_empty_spans();
}

// The other threads' bins are not looked at: a thread may have been anywhere in a pop or push, and on some processors its two stores may have
// become visible in either order. The blocks in them count as live in the child for ever, a bounded amount for each thread there was. What is in
// depots is whole, because all of their locks were held; runs in caches are found by a walk over all runs.
void forget_other_heaps_after_fork() {
  Heap* const mine = thread_heap;
  Care::registry.retire_others(mine);
  // Also those that had ended before: a purging thread may have been at their caches.
  Care::registry.for_each_ended([](Heap* heap) { heap->runs.forget_after_fork(); });
  // The walk must not change the runs it goes over: runs to give back are linked through their first words, which are nobody's, and released
  // afterwards.
  struct Lost {
    Lost* next;
    uint32_t order;
  };
  Lost* lost = nullptr;
  mem::chunk_supply.for_each_run([&](char* record, char* run, uint32_t order) {
    if (reinterpret_cast<const ChunkEntry*>(record)->span()) return;
    if (mine != &no_heap && mine->runs.keeps(run)) return;
    mem::chunk_supply.mark_resident(run, sizeof(Lost));
    lost = new (run) Lost{lost, order};
  });
  while (Lost* const one = lost) {
    lost = one->next;
    core::release_run(reinterpret_cast<char*>(one), one->order);
  }
}

}  // namespace hakozuna::hz10
