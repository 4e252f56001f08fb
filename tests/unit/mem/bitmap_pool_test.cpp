// Bitmaps that are used again, each with the layout it had.
#include "common/mem/bitmap_pool.h"

#include <gtest/gtest.h>

#include <set>

namespace hakozuna::mem {
namespace {

TEST(BitmapPoolTest, BitmapsAreDisjointAndUsedAgain) {
  BitmapPool pool;
  std::set<uint64_t*> bitmaps;
  std::set<const uint64_t*> words;
  for (uint32_t count = 1; count <= 64; ++count) {
    uint64_t* const bitmap = pool.allocate(count);
    ASSERT_NE(bitmap, nullptr);
    bitmaps.insert(bitmap);
    for (uint32_t i = 0; i < count; ++i) {
      bitmap[i] = ~uint64_t{0};
      EXPECT_TRUE(words.insert(bitmap + i).second);
    }
  }
  uint64_t* const three = pool.allocate(3);
  pool.release(three, 3);
  EXPECT_EQ(pool.allocate(4), three) << "by power of two";
  pool.release(three, 4);
  EXPECT_NE(pool.allocate(5), three);
  EXPECT_EQ(pool.allocate(3), three);
  EXPECT_EQ(bitmaps.count(three), 0u);
}

}  // namespace
}  // namespace hakozuna::mem
