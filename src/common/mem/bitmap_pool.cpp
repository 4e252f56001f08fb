#include "common/mem/bitmap_pool.h"

#include "common/base/base.h"
#include "common/mem/metadata.h"

namespace hakozuna::mem {

constinit BitmapPool bitmap_pool;

namespace {

uint32_t kind_of(uint32_t words) { return log2_floor(words * 2 - 1); }

}  // namespace

uint64_t* BitmapPool::allocate(uint32_t words) {
  const uint32_t kind = kind_of(words);
  {
    os::LockGuard guard(lock_);
    if (uint64_t* const block = free_[kind]) {
      free_[kind] = *reinterpret_cast<uint64_t**>(block);
      return block;
    }
  }
  return static_cast<uint64_t*>(metadata.allocate((size_t{1} << kind) * sizeof(uint64_t)));
}

void BitmapPool::release(uint64_t* bitmap, uint32_t words) {
  const uint32_t kind = kind_of(words);
  os::LockGuard guard(lock_);
  *reinterpret_cast<uint64_t**>(bitmap) = free_[kind];
  free_[kind] = bitmap;
}

}  // namespace hakozuna::mem
