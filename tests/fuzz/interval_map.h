// The blocks that are live, by address: what the fuzzer knows of the heap independently of the
// heap.
#pragma once

#include <cstddef>
#include <cstdint>

#include "support/scratch_array.h"

namespace hakozuna::test {

// A block as the oracle remembers it; `usable` bytes from `start` belong to it.
struct LiveBlock {
  uintptr_t start;
  size_t usable;
  size_t requested;
  size_t alignment;
  uint64_t seed;  // of its contents
};

// Sorted by address in an array of its own: a few thousand blocks need nothing cleverer. Never
// allocates.
class IntervalMap {
 public:
  explicit IntervalMap(size_t capacity) : blocks_(capacity) {}

  // False if it would overlap a block that is there. Room must be left.
  bool insert(const LiveBlock& block);
  void erase(size_t index);

  size_t size() const { return count_; }
  bool full() const { return count_ == blocks_.size(); }
  LiveBlock& operator[](size_t index) { return blocks_[index]; }
  // The sum of the usable sizes.
  uint64_t usable_total() const { return usable_total_; }

 private:
  // The first block that does not lie before the address.
  size_t lower_bound(uintptr_t address) const;

  ScratchArray<LiveBlock> blocks_;
  size_t count_ = 0;
  uint64_t usable_total_ = 0;
};

}  // namespace hakozuna::test
