// Bitmaps of spans of more than 64 slots, in the metadata.
#pragma once

#include <cstdint>

#include "common/os/lock.h"

namespace hakozuna::mem {

class BitmapPool {
 public:
  constexpr BitmapPool() = default;

  // 64-bit words, 1 to 128 of them, of any content; null without memory. Recycled by power of two, so that a block keeps its layout for ever: a
  // thread that is late with one reads words of a bitmap.
  uint64_t* allocate(uint32_t words);
  void release(uint64_t* bitmap, uint32_t words);

  os::Lock& lock() { return lock_; }

 private:
  static constexpr uint32_t kKinds = 8;  // 1, 2, 4, .. 128 words

  os::Lock lock_{os::Rank::kBitmaps};
  uint64_t* free_[kKinds] = {};  // linked through the first word
};

extern BitmapPool bitmap_pool;

}  // namespace hakozuna::mem
