// A thread's bins: growing them, filling them from the depots and the other way.
#pragma once

#include "hz10/layout.h"

namespace hakozuna::hz10 {

inline Bin& bin_of(Heap* heap, uint32_t size_class) { return heap->bins[size_class + 1]; }

// Racing where the heap is another thread's: exact while that is at rest.
inline uint32_t count_of(const Heap* heap, uint32_t size_class) {
  void** const base = racing_read(heap->base[size_class]);
  return base ? static_cast<uint32_t>(racing_read(heap->bins[size_class + 1].top) - base) : 0;
}
inline uint32_t capacity_of(const Heap* heap, uint32_t size_class) {
  return static_cast<uint32_t>(heap->bins[size_class + 1].limit - heap->base[size_class]);
}

// Makes all bins empty, whatever they held, and of no capacity.
void reset_bins(Heap* heap);

// Fills the empty bin of the class with a few blocks, more each time. False when the system has no memory.
bool refill(Heap* heap, uint32_t size_class);

// Makes room in the full bin of the class: a larger bin, or the older half of it to the depot.
void make_room(Heap* heap, uint32_t size_class);

// Gives the older half of each bin to its depot; one that is empty loses its capacity.
void halve_bins(Heap* heap);

// Gives everything to the depots.
void empty_bins(Heap* heap);

}  // namespace hakozuna::hz10
