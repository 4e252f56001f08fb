// calloc and reallocarray: zeroed whatever the memory held before, and never shorter than the
// product says.
#include <gtest/gtest.h>
#include <malloc.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "support/opaque.h"
#include "support/pattern.h"

namespace hakozuna::test {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

// Dirties memory of the size to its usable end, gives it back, and asks for it again cleared.
void expect_zero_after_dirty(size_t size, size_t count) {
  std::vector<void*> blocks(count);
  for (void*& block : blocks) {
    block = opaque(std::malloc(size));
    ASSERT_NE(block, nullptr);
    std::memset(block, 0xa5, malloc_usable_size(block));
  }
  for (void* block : blocks) std::free(block);
  for (void*& block : blocks) {
    block = opaque(std::calloc(1, size));
    ASSERT_NE(block, nullptr);
    ASSERT_TRUE(is_zero(block, size)) << size;
    std::memset(block, 0x5a, malloc_usable_size(block));
  }
  for (void* block : blocks) std::free(block);
}

TEST(Calloc, RecycledMemoryOfEveryClassIsZero) {
  for (size_t size = 1; size <= 600'000; size += 1 + size / 24) {
    expect_zero_after_dirty(size, size < 4096 ? 200 : 8);
    if (HasFatalFailure()) return;
  }
}

TEST(Calloc, RecycledLargeMemoryIsZero) {
  for (const size_t size : {600'000 + size_t{1}, kMiB, 3 * kMiB, 10 * kMiB, 70 * kMiB}) {
    for (int round = 0; round < 3; ++round) {
      expect_zero_after_dirty(size, 2);
      if (HasFatalFailure()) return;
    }
  }
}

// Programs that ask for the usable size and use it must find it cleared too.
TEST(Calloc, IsZeroToTheUsableEnd) {
  for (size_t size = 1; size <= 200'000; size += 1 + size / 16) {
    for (int round = 0; round < 20; ++round) {
      void* block = opaque(std::calloc(1, size));
      ASSERT_NE(block, nullptr);
      ASSERT_TRUE(is_zero(block, malloc_usable_size(block))) << size;
      std::memset(block, 0xff, malloc_usable_size(block));
      std::free(block);
    }
  }
}

TEST(Calloc, MultipliesCountAndSize) {
  void* block = opaque(std::calloc(1000, 77));
  ASSERT_NE(block, nullptr);
  EXPECT_GE(malloc_usable_size(block), 77'000u);
  EXPECT_TRUE(is_zero(block, 77'000));
  std::free(block);
}

TEST(Calloc, ZeroElementsGiveABlock) {
  for (const auto& [count, size] : {std::pair<size_t, size_t>{0, 8}, {8, 0}, {0, 0}}) {
    void* block = opaque(std::calloc(opaque(count), opaque(size)));
    EXPECT_NE(block, nullptr);
    std::free(block);
  }
}

TEST(Calloc, OverflowFailsWithENOMEM) {
  const size_t half = SIZE_MAX / 2;
  for (const auto& [count, size] : {std::pair<size_t, size_t>{half + 2, 2},
                                    {SIZE_MAX, SIZE_MAX},
                                    {SIZE_MAX, 2},
                                    {size_t{1} << 32, size_t{1} << 32},
                                    {half, 4},
                                    {1, SIZE_MAX},
                                    {PTRDIFF_MAX, 2}}) {
    errno = 0;
    EXPECT_EQ(opaque(std::calloc(opaque(count), opaque(size))), nullptr) << count << " * " << size;
    EXPECT_EQ(errno, ENOMEM);
  }
}

TEST(Reallocarray, ResizesAndKeepsContents) {
  void* block = opaque(reallocarray(nullptr, 10, 10));
  ASSERT_NE(block, nullptr);
  fill_pattern(block, 100, 1);
  block = opaque(reallocarray(block, 1000, 10));
  ASSERT_NE(block, nullptr);
  EXPECT_TRUE(has_pattern(block, 100, 1));
  EXPECT_GE(malloc_usable_size(block), 10'000u);
  std::free(block);
}

TEST(Reallocarray, OverflowFailsAndLeavesTheBlock) {
  void* block = opaque(std::malloc(100));
  ASSERT_NE(block, nullptr);
  fill_pattern(block, 100, 2);
  errno = 0;
  EXPECT_EQ(opaque(reallocarray(block, opaque(SIZE_MAX / 2), opaque(size_t{3}))), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  EXPECT_TRUE(has_pattern(block, 100, 2));
  std::free(block);
}

}  // namespace
}  // namespace hakozuna::test
