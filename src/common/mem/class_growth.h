// Which size classes a thread makes one span after the other of, so that a further run gets its memory in one go: at less than half the cost of a fault
// for each page, and a twentieth under some hypervisors.
#pragma once

#include <cstdint>

#include "common/mem/chunk_supply.h"
#include "common/mem/size_classes.h"

namespace hakozuna::mem {

// A class grows if the thread makes its kGrowing-th span since the last tick. That span is what is taken in advance: a share of 1/kGrowing of what the class
// has got meanwhile at most.
template <uint8_t kGrowing>
class ClassGrowth {
 public:
  // To be called with the run of each span that is made, before it is used. Classes of slots above a page are left alone: of their blocks pages may never
  // be touched. Owner.
  void note(char* run, uint32_t size_class, uint32_t order) {
    if (size_class >= kSmallClassCount) return;
    if (spans_[size_class] + 1 < kGrowing) {
      ++spans_[size_class];
    } else {
      chunk_supply.populate(run, order);
    }
  }

  // Begins to count anew. Owner.
  void tick() {
    for (uint8_t& spans : spans_) spans = 0;
  }

 private:
  uint8_t spans_[kSmallClassCount] = {};  // made since the last tick, up to kGrowing - 1
};

}  // namespace hakozuna::mem
