#include "common/mem/large_blocks.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "common/mem/budget.h"
#include "common/mem/metadata.h"
#include "support/pattern.h"
#include "support/random.h"
#include "unit/os/resident_pages.h"
#include "unit/sanitizers.h"

namespace hakozuna::mem {
namespace {

constexpr LargeBlocks::Policy kNoLimit = {0, false};
constexpr uint64_t kAnyBudget = UINT64_MAX;
constexpr size_t kMiB = size_t{1} << 20;

class LargeBlocksTest : public testing::Test {
 protected:
  ~LargeBlocksTest() override {
    for (char* block : live_) {
      bool scheduled = false;
      blocks_->release(find(block), 0, 0, scheduled);
    }
    blocks_->purge(UINT64_MAX, 0);
    EXPECT_EQ(blocks_->live_bytes() + blocks_->slack_bytes() + blocks_->cached_bytes(), 0u);
  }

  char* allocate(size_t bytes, size_t alignment = 1, bool zeroed = false) {
    auto* const block = static_cast<char*>(blocks_->allocate(bytes, alignment, zeroed, kNoLimit));
    if (block) live_.push_back(block);
    EXPECT_NE(block, nullptr) << bytes;
    return block;
  }
  LargeBlock* find(const void* address) { return blocks_->find(address); }
  bool release(char* block, uint64_t now = 0, uint64_t budget = kAnyBudget) {
    std::erase(live_, block);
    return blocks_->release(find(block), now, budget, scheduled_);
  }
  char* resize(char* block, size_t bytes, const LargeBlocks::Policy& policy = kNoLimit) {
    auto* const resized = static_cast<char*>(blocks_->resize(find(block), bytes, policy));
    if (resized) {
      std::erase(live_, block);
      live_.push_back(resized);
    }
    return resized;
  }
  void expect_bytes(uint64_t live, uint64_t slack, uint64_t cached) {
    EXPECT_EQ(blocks_->live_bytes(), live);
    EXPECT_EQ(blocks_->slack_bytes(), slack);
    EXPECT_EQ(blocks_->cached_bytes(), cached);
  }

  const std::unique_ptr<LargeBlocks> blocks_ = std::make_unique<LargeBlocks>();
  bool scheduled_ = false;
  std::vector<char*> live_;
};

TEST_F(LargeBlocksTest, BlocksAreWholeChunksAndFoundAtEveryByte) {
  for (const size_t bytes : {size_t{0}, size_t{1}, kChunkBytes, kChunkBytes + 1, 3 * kMiB + 77}) {
    char* const block = allocate(bytes);
    const size_t mapping = bytes == 0 ? kChunkBytes : align_up(bytes, kChunkBytes);
    const LargeBlock* const record = find(block);
    ASSERT_NE(record, nullptr);
    EXPECT_EQ(record->start, block);
    EXPECT_EQ(record->bytes, mapping);
    EXPECT_EQ(record->usable, mapping);
    EXPECT_TRUE(test::is_zero(block, mapping));
    std::memset(block, 1, mapping);
    for (size_t at = 0; at < mapping; at += 4096) ASSERT_EQ(find(block + at), record);
    EXPECT_EQ(find(block + mapping - 1), record);
    EXPECT_NE(find(block - 1), record);
    EXPECT_NE(find(block + mapping), record);
  }
}

TEST_F(LargeBlocksTest, AlignmentUpTo64MiB) {
  for (size_t alignment = 1; alignment <= 64 * kMiB; alignment *= 2) {
    char* const block = allocate(kMiB, alignment);
    ASSERT_TRUE(is_aligned(reinterpret_cast<uintptr_t>(block), alignment)) << alignment;
    for (size_t at = 0; at < kMiB; at += kChunkBytes) ASSERT_EQ(find(block + at), find(block));
    block[0] = block[kMiB - 1] = 1;
  }
}

TEST_F(LargeBlocksTest, WhatCannotBeHadIsNull) {
  for (const size_t bytes : {SIZE_MAX, size_t{PTRDIFF_MAX}, size_t{PTRDIFF_MAX} + 1, size_t{1} << 60}) {
    EXPECT_EQ(blocks_->allocate(bytes, 1, false, kNoLimit), nullptr);
  }
  EXPECT_EQ(blocks_->allocate(kMiB, size_t{1} << 62, false, kNoLimit), nullptr);
  expect_bytes(0, 0, 0);
  EXPECT_EQ(LargeBlocks::mapping_bytes(SIZE_MAX), 0u);
}

TEST_F(LargeBlocksTest, ReleasedTwiceIsToldApart) {
  char* const block = allocate(kMiB);
  EXPECT_TRUE(release(block));
  ASSERT_NE(find(block), nullptr) << "stays known while it is cached";
  EXPECT_EQ(find(block)->state, LargeBlock::State::kCached);
  EXPECT_FALSE(release(block));
  expect_bytes(0, 0, kMiB);
  EXPECT_EQ(allocate(kMiB), block) << "and is none the worse for it";
}

TEST_F(LargeBlocksTest, OfThreadsThatReleaseTheSameBlockOneSucceeds) {
  for (int round = 0; round < 200; ++round) {
    LargeBlock* const record = find(allocate(kMiB));
    live_.clear();
    std::atomic<int> successes{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&] {
        bool scheduled = false;
        successes += blocks_->release(record, 0, kAnyBudget, scheduled);
      });
    }
    for (std::thread& thread : threads) thread.join();
    ASSERT_EQ(successes, 1);
  }
}

TEST_F(LargeBlocksTest, CacheGivesTheBestFitWithinAnEighth) {
  char* const of_16 = allocate(16 * kChunkBytes);
  char* const of_17 = allocate(17 * kChunkBytes);
  char* const of_18 = allocate(18 * kChunkBytes);
  for (char* block : {of_16, of_17, of_18}) release(block);
  EXPECT_EQ(allocate(17 * kChunkBytes - 5), of_17);
  expect_bytes(17 * kChunkBytes, 0, 34 * kChunkBytes);
  EXPECT_EQ(allocate(17 * kChunkBytes), of_18) << "the smallest that holds it";
  expect_bytes(34 * kChunkBytes, kChunkBytes, 16 * kChunkBytes);
  EXPECT_EQ(find(of_18)->usable, 17 * kChunkBytes);
  char* const small = allocate(14 * kChunkBytes);
  EXPECT_NE(small, of_16) << "would waste a seventh";
  EXPECT_EQ(allocate(15 * kChunkBytes), of_16);
}

TEST_F(LargeBlocksTest, CacheKeepsToTheAlignment) {
  char* block = allocate(4 * kMiB);
  while (is_aligned(reinterpret_cast<uintptr_t>(block), 8 * kMiB)) block = allocate(4 * kMiB);
  release(block);
  char* const aligned = allocate(4 * kMiB, 8 * kMiB);
  EXPECT_NE(aligned, block);
  EXPECT_TRUE(is_aligned(reinterpret_cast<uintptr_t>(aligned), 8 * kMiB));
  EXPECT_EQ(allocate(4 * kMiB), block);
}

TEST_F(LargeBlocksTest, ReuseIsZeroedOnRequest) {
  for (const size_t bytes : {4 * kChunkBytes, 4 * kMiB}) {  // by writing, by returning the pages
    char* const block = allocate(bytes);
    test::fill_pattern(block, bytes, 1);
    release(block);
    ASSERT_EQ(allocate(bytes), block);
    EXPECT_TRUE(test::has_pattern(block, bytes, 1)) << "not needlessly";
    release(block);
    ASSERT_EQ(allocate(bytes, 1, /*zeroed=*/true), block);
    EXPECT_TRUE(test::is_zero(block, bytes));
  }
}

TEST_F(LargeBlocksTest, BudgetEvictsTheOldest) {
  std::vector<char*> some;
  for (int i = 0; i < 5; ++i) some.push_back(allocate(kMiB));
  for (size_t i = 0; i < some.size(); ++i) release(some[i], i, 3 * kMiB);
  expect_bytes(0, 0, 3 * kMiB);
  for (size_t i = 0; i < some.size(); ++i) {
    EXPECT_EQ(find(some[i]) != nullptr, i >= 2) << i;
    EXPECT_EQ(test::is_mapped(some[i], kMiB), i >= 2) << i;
  }
}

TEST_F(LargeBlocksTest, WhatExceedsTheBudgetAloneIsUnmappedAtOnce) {
  char* const block = allocate(4 * kMiB);
  release(block, 0, kMiB);
  expect_bytes(0, 0, 0);
  EXPECT_EQ(find(block), nullptr);
  EXPECT_EQ(blocks_->purge_calls(), 1u);
  EXPECT_EQ(blocks_->purged_bytes(), 4 * kMiB);
}

TEST_F(LargeBlocksTest, PurgeTakesWhatIsOldEnough) {
  char* const first = allocate(kMiB);
  char* const second = allocate(kMiB);
  EXPECT_FALSE(blocks_->purge_pending());
  release(first, 1000);
  EXPECT_TRUE(scheduled_);
  EXPECT_TRUE(blocks_->purge_pending());
  release(second, 1200);
  EXPECT_FALSE(scheduled_) << "is by now";
  EXPECT_EQ(blocks_->purge(1499, 500), 0u);
  EXPECT_EQ(blocks_->purge(1500, 500), kMiB);
  EXPECT_EQ(find(first), nullptr);
  EXPECT_NE(find(second), nullptr);
  EXPECT_EQ(blocks_->purge(1700, 500), kMiB);
  EXPECT_FALSE(blocks_->purge_pending());
}

TEST_F(LargeBlocksTest, WhatIsFreedAfterTheClockWasReadIsYoung) {
  release(allocate(kMiB), 1004);
  EXPECT_EQ(blocks_->purge(1000, 500), 0u);
  EXPECT_EQ(blocks_->purge(1000, 0), kMiB) << "a trim takes everything";
}

TEST_F(LargeBlocksTest, LimitCountsWhatIsCached) {
  char* const block = allocate(3 * kMiB);
  const LargeBlocks::Policy limit = {mapped_total.load() + kMiB, false};  // of all that is mapped in the process
  EXPECT_EQ(blocks_->allocate(2 * kMiB, 1, false, limit), nullptr);
  release(block);
  void* const again = blocks_->allocate(3 * kMiB, 1, false, limit);
  EXPECT_EQ(again, block) << "reuse maps nothing";
  live_.push_back(block);
  EXPECT_EQ(resize(block, 5 * kMiB, limit), nullptr);
  EXPECT_EQ(find(block)->bytes, 3 * kMiB);
  EXPECT_NE(resize(block, 4 * kMiB, limit), nullptr);
}

TEST_F(LargeBlocksTest, ResizeWithinAnEighthStays) {
  char* const block = allocate(9 * kChunkBytes);
  EXPECT_EQ(resize(block, 8 * kChunkBytes), block);
  EXPECT_EQ(find(block)->usable, 8 * kChunkBytes);
  expect_bytes(8 * kChunkBytes, kChunkBytes, 0);
  EXPECT_EQ(resize(block, 9 * kChunkBytes), block);
  expect_bytes(9 * kChunkBytes, 0, 0);
}

TEST_F(LargeBlocksTest, ResizeShrinksInPlaceAndLetsTheRestGo) {
  char* const block = allocate(4 * kMiB);
  test::fill_pattern(block, 4 * kMiB, 2);
  ASSERT_EQ(resize(block, kMiB), block);
  EXPECT_TRUE(test::has_pattern(block, kMiB, 2));
  EXPECT_EQ(find(block + kMiB), nullptr);
  EXPECT_EQ(find(block + kMiB - 1), find(block));
  expect_bytes(kMiB, 0, 0);
}

TEST_F(LargeBlocksTest, ResizeGrowsWithContentsKept) {
  char* block = allocate(kMiB);
  test::fill_pattern(block, kMiB, 3);
  int moves = 0;
  std::vector<char*> obstacles;
  for (size_t bytes = 2 * kMiB; bytes <= 64 * kMiB; bytes *= 2) {
    obstacles.push_back(allocate(kMiB));  // mappings are placed next to each other
    char* const before = block;
    const size_t old_bytes = find(block)->bytes;
    block = resize(block, bytes);
    ASSERT_NE(block, nullptr);
    moves += block != before;
    EXPECT_TRUE(is_aligned(reinterpret_cast<uintptr_t>(block), kChunkBytes));
    EXPECT_TRUE(test::has_pattern(block, kMiB, 3));
    EXPECT_TRUE(test::is_zero(block + old_bytes, bytes - old_bytes)) << "fresh pages";
    EXPECT_EQ(find(block)->start, block);
    EXPECT_EQ(find(block + bytes - 1), find(block));
    EXPECT_EQ(find(before) == find(block), block == before);
  }
  EXPECT_EQ(blocks_->live_bytes(), (64 + obstacles.size()) * kMiB);
  EXPECT_GT(moves, 0) << "else nothing was tried";
}

TEST_F(LargeBlocksTest, ResizeThatFailsChangesNothing) {
  char* const block = allocate(kMiB);
  test::fill_pattern(block, kMiB, 4);
  EXPECT_EQ(resize(block, size_t{1} << 60), nullptr);
  EXPECT_EQ(resize(block, SIZE_MAX), nullptr);
  EXPECT_TRUE(test::has_pattern(block, kMiB, 4));
  EXPECT_EQ(find(block)->bytes, kMiB);
  EXPECT_EQ(find(block + kMiB - 1), find(block));
  expect_bytes(kMiB, 0, 0);
}

TEST_F(LargeBlocksTest, RecordsAreUsedAgain) {
  const auto come_and_go = [this](int times) {
    for (int i = 0; i < times; ++i) {
      char* const block = allocate(kMiB);
      release(block, 0, 0);
    }
  };
  come_and_go(10);
  const uint64_t before = metadata.mapped_bytes();
  come_and_go(20000);
  EXPECT_EQ(metadata.mapped_bytes(), before);
}

TEST_F(LargeBlocksTest, ThreadsKeepTheirContents) {
  const int rounds = test::kSanitizer ? 300 : 2000;
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([this, t, rounds] {
      test::Random random(t);
      struct Held {
        char* block;
        size_t bytes;
        uint64_t seed;
      };
      std::vector<Held> held;
      for (int i = 0; i < rounds; ++i) {
        const uint64_t choice = random.below(4);
        if (held.empty() || (choice == 0 && held.size() < 8)) {
          const size_t bytes = random.between(1, 20) * kChunkBytes;
          const bool zeroed = random.one_in(2);
          char* const block = static_cast<char*>(blocks_->allocate(bytes, 1, zeroed, kNoLimit));
          ASSERT_NE(block, nullptr);
          ASSERT_TRUE(!zeroed || test::is_zero(block, bytes));
          held.push_back({block, bytes, random.next()});
          test::fill_sparse(block, bytes, held.back().seed);
          continue;
        }
        Held& one = held[random.below(held.size())];
        ASSERT_TRUE(test::has_sparse(one.block, one.bytes, one.seed));
        // ThreadSanitizer does not know mremap: where pages went away or came in, it remembers the accesses of other threads from before.
        if (choice == 1 && !test::kThreadSanitizer) {
          const size_t bytes = random.between(1, 40) * kChunkBytes;
          char* const block = static_cast<char*>(blocks_->resize(find(one.block), bytes, kNoLimit));
          ASSERT_NE(block, nullptr);
          ASSERT_TRUE(test::has_sparse(block, one.bytes, one.seed, bytes < one.bytes ? bytes : one.bytes));
          one = {block, bytes, random.next()};
          test::fill_sparse(one.block, one.bytes, one.seed);
        } else {
          bool scheduled = false;
          ASSERT_TRUE(blocks_->release(find(one.block), static_cast<uint64_t>(i), 8 * kMiB, scheduled));
          one = held.back();
          held.pop_back();
        }
        if (i % 50 == 0) blocks_->purge(static_cast<uint64_t>(i), 20);
      }
      for (const Held& one : held) {
        bool scheduled = false;
        ASSERT_TRUE(blocks_->release(find(one.block), 0, 0, scheduled));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(blocks_->live_bytes() + blocks_->slack_bytes(), 0u);
}

}  // namespace
}  // namespace hakozuna::mem
