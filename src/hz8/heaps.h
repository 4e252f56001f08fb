// Thread heaps: making one, finding all, ending one.
#pragma once

#include "hz8/layout.h"

namespace hakozuna::hz8 {

// The calling thread's heap, made if it has none; null if there is no memory for it.
Heap* own_heap();

// Ends the calling thread's heap, if it has one: everything free goes to the other threads, spans with live blocks become orphans.
void end_own_heap();

// Ends the heaps of threads that ended without notice, and sees to what reached the queue of an ended heap.
void reap_heaps();

// Asks all threads to look at their timers at their next allocation.
void request_attention();

// Calls visit(heap) for every heap that serves a thread, under the registry lock.
template <class Visitor>
void for_each_heap(Visitor&& visit);

struct HeapRegistry {
  os::Lock lock{os::Rank::kHeapRegistry};
  List<Heap> serving;
  List<Heap> ended;  // to be used again; late pushes to their queues are possible
  uint64_t serving_count = 0;
  uint64_t total_count = 0;
};
extern HeapRegistry heap_registry;

template <class Visitor>
void for_each_heap(Visitor&& visit) {
  os::LockGuard guard(heap_registry.lock);
  for (Heap* heap = heap_registry.serving.first(); heap; heap = heap->next) visit(heap);
}

// In a forked child: the other threads are gone, whatever they were doing.
void forget_other_heaps_after_fork();

}  // namespace hakozuna::hz8
