#include "hz10/bins.h"

#include <string.h>

#include "hz10/depots.h"
#include "hz10/heaps.h"

namespace hakozuna::hz10 {
namespace {

constexpr bool is_medium(uint32_t size_class) { return size_class >= mem::kSmallClassCount; }

// Takes the capacity of a bin away; it is empty.
void close_bin(Heap* heap, uint32_t size_class) {
  Bin& bin = bin_of(heap, size_class);
  HAKOZUNA_CHECK(count_of(heap, size_class) == 0, "a bin is emptied before it is closed");
  if (is_medium(size_class)) heap->medium_bytes -= size_t{capacity_of(heap, size_class)} * mem::slot_bytes_of(size_class);
  bin.limit = bin.top;
}

// Gives the `count` oldest blocks of the bin to the depot.
void spill(Heap* heap, uint32_t size_class, uint32_t count) {
  Bin& bin = bin_of(heap, size_class);
  void** const base = heap->base[size_class];
  put_blocks(heap, size_class, base, count);
  const size_t rest = static_cast<size_t>(bin.top - base) - count;
  memmove(base, base + count, rest * sizeof(void*));
  bin.top = base + rest;
}

// Makes sure that the medium bins may have `bytes` more, at the cost of others than the bin of `size_class`.
void reserve_medium_bytes(Heap* heap, uint32_t size_class, size_t bytes) {
  while (heap->medium_bytes + bytes > kMediumBytes) {
    const uint32_t victim = heap->victim;
    heap->victim = victim + 1 == mem::kClassCount ? mem::kSmallClassCount : victim + 1;
    if (victim == size_class || capacity_of(heap, victim) == 0) continue;
    if (const uint32_t count = count_of(heap, victim)) spill(heap, victim, count);
    close_bin(heap, victim);
  }
  heap->medium_bytes += bytes;
}

void use_larger_array(Heap* heap, uint32_t size_class) {
  const uint32_t capacity = 2u * heap->array_capacity[size_class] + 1;
  void** const base = heap->arrays + heap->arrays_used + 1;
  heap->arrays_used += capacity + 1;
  HAKOZUNA_CHECK(heap->arrays_used <= kArrayEntries, "there is room for all arrays");
  Bin& bin = bin_of(heap, size_class);
  const uint32_t count = count_of(heap, size_class);
  base[-1] = nullptr;
  memcpy(base, heap->base[size_class], count * sizeof(void*));
  bin.top = base + count;
  heap->base[size_class] = base;
  heap->array_capacity[size_class] = static_cast<uint16_t>(capacity);
}

// Gives the bin more capacity; false if it has as much as it may.
bool grow(Heap* heap, uint32_t size_class) {
  const uint32_t largest = kLargestCapacities[size_class];
  const uint32_t capacity = capacity_of(heap, size_class);
  if (capacity == largest) return false;
  uint32_t more = capacity == 0 ? kFirstCapacity : 2 * capacity + 1;
  if (more > largest) more = largest;
  if (more > heap->array_capacity[size_class] && !heap->arrays) return false;
  if (is_medium(size_class)) {
    reserve_medium_bytes(heap, size_class, size_t{more - capacity} * mem::slot_bytes_of(size_class));
  }
  if (more > heap->array_capacity[size_class]) use_larger_array(heap, size_class);
  bin_of(heap, size_class).limit = heap->base[size_class] + more;
  return true;
}

}  // namespace

void reset_bins(Heap* heap) {
  for (uint32_t c = 0; c < mem::kClassCount; ++c) {
    void** const base = heap->first_arrays[c] + 1;
    heap->base[c] = base;
    heap->array_capacity[c] = kFirstCapacity;
    bin_of(heap, c) = {base, base};
  }
  heap->arrays_used = 0;
  heap->medium_bytes = 0;
  heap->victim = mem::kSmallClassCount;
}

bool refill(Heap* heap, uint32_t size_class) {
  core::count(heap->refills, 1);
  count_refill(heap);  // before: it may take blocks out of bins, and capacity
  grow(heap, size_class);
  const uint32_t capacity = capacity_of(heap, size_class);
  // Of large blocks few: what one thread holds back, another has to take new memory for.
  const uint32_t wanted = is_medium(size_class) ? (capacity + 3) / 4 : (capacity + 1) / 2;
  void** const base = heap->base[size_class];
  const uint32_t taken = take_blocks(heap, size_class, base + wanted, wanted);
  if (taken < wanted) memmove(base, base + (wanted - taken), taken * sizeof(void*));
  bin_of(heap, size_class).top = base + taken;
  return taken != 0;
}

void make_room(Heap* heap, uint32_t size_class) {
  if (grow(heap, size_class)) return;
  count_spill(heap);  // before: as in refill()
  const Bin& bin = bin_of(heap, size_class);
  if (bin.top == bin.limit && !grow(heap, size_class)) spill(heap, size_class, (capacity_of(heap, size_class) + 1) / 2);
}

void halve_bins(Heap* heap) {
  for (uint32_t c = 0; c < mem::kClassCount; ++c) {
    if (const uint32_t count = count_of(heap, c)) {
      spill(heap, c, (count + 1) / 2);
    } else if (capacity_of(heap, c) != 0) {
      close_bin(heap, c);
    }
  }
}

void empty_bins(Heap* heap) {
  for (uint32_t c = 0; c < mem::kClassCount; ++c) {
    if (const uint32_t count = count_of(heap, c)) spill(heap, c, count);
    if (capacity_of(heap, c) != 0) close_bin(heap, c);
  }
}

}  // namespace hakozuna::hz10
