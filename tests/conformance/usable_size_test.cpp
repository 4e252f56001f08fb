// The usable size: at least what was asked, the same for the block's life, all of it the caller's.
#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdlib>
#include <vector>

#include "support/line_under_test.h"
#include "support/opaque.h"
#include "support/pattern.h"
#include "support/random.h"

namespace hakozuna::test {
namespace {

TEST(UsableSize, OfNullIsZero) {
  EXPECT_EQ(malloc_usable_size(opaque<void*>(nullptr)), 0u);
  if (line_loaded()) {
    EXPECT_EQ(api().usable_size(nullptr), 0u);
  }
}

TEST(UsableSize, IsStable) {
  Random random(21);
  struct Block {
    void* memory;
    size_t usable;
  };
  std::vector<Block> blocks(2000);
  for (Block& block : blocks) {
    block.memory = opaque(std::malloc(random.size_between(1, 300'000)));
    ASSERT_NE(block.memory, nullptr);
    block.usable = malloc_usable_size(block.memory);
  }
  // Others come and go.
  for (int i = 0; i < 20000; ++i) std::free(opaque(std::malloc(random.size_between(1, 300'000))));
  for (const Block& block : blocks) {
    ASSERT_EQ(malloc_usable_size(block.memory), block.usable);
    std::free(block.memory);
  }
}

TEST(UsableSize, GoodSizeSaysWhatMallocGives) {
  REQUIRE_LINE();
  const auto expect_good = [](size_t size) {
    void* block = opaque(std::malloc(size));
    ASSERT_NE(block, nullptr);
    ASSERT_EQ(api().good_size(size), malloc_usable_size(block)) << size;
    ASSERT_EQ(api().usable_size(block), malloc_usable_size(block)) << size;
    std::free(block);
  };
  for (size_t size = 0; size <= 70'000 && !HasFatalFailure(); ++size) expect_good(size);
  Random random(22);
  for (int i = 0; i < 300 && !HasFatalFailure(); ++i) {
    expect_good(random.size_between(70'000, size_t{64} << 20));
  }
}

TEST(UsableSize, OverheadIsBounded) {
  REQUIRE_LINE();
  // 12.5 % or 15 bytes, and a page where a block has a mapping of its own.
  for (size_t size = 1; size <= (size_t{64} << 20); size += 1 + size / 50) {
    const size_t good = api().good_size(size);
    EXPECT_GE(good, size);
    EXPECT_LE(good, size + size / 7 + 15) << size;
  }
}

TEST(UsableSize, OfWhatIsNoBlockIsZero) {
  REQUIRE_LINE();
  static int object = 0;
  int local = 0;
  EXPECT_EQ(api().usable_size(&object), 0u);
  EXPECT_EQ(api().usable_size(&local), 0u);
  if (!detection().exact_classify) return;
  auto* block = static_cast<char*>(opaque(std::malloc(1000)));
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(api().usable_size(block + 16), 0u);
  EXPECT_EQ(api().usable_size(block + 1), 0u);
  std::free(block);
  EXPECT_EQ(api().usable_size(opaque(block)), 0u);
}

}  // namespace
}  // namespace hakozuna::test
