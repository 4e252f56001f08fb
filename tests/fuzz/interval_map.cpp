#include "fuzz/interval_map.h"

#include <algorithm>

namespace hakozuna::test {

size_t IntervalMap::lower_bound(uintptr_t address) const {
  const LiveBlock* first = &blocks_[0];
  const LiveBlock* found =
      std::lower_bound(first, first + count_, address,
                       [](const LiveBlock& block, uintptr_t a) { return block.start < a; });
  return static_cast<size_t>(found - first);
}

bool IntervalMap::insert(const LiveBlock& block) {
  const size_t at = lower_bound(block.start);
  if (at < count_ && blocks_[at].start - block.start < block.usable) return false;
  if (at > 0 && block.start - blocks_[at - 1].start < blocks_[at - 1].usable) return false;
  std::copy_backward(&blocks_[at], &blocks_[count_], &blocks_[count_ + 1]);
  blocks_[at] = block;
  ++count_;
  usable_total_ += block.usable;
  return true;
}

void IntervalMap::erase(size_t index) {
  usable_total_ -= blocks_[index].usable;
  std::copy(&blocks_[index + 1], &blocks_[count_], &blocks_[index]);
  --count_;
}

}  // namespace hakozuna::test
