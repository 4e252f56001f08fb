// Depots: spans that all threads share.
#include <set>

#include "support/pattern.h"
#include "support/random.h"
#include "unit/hz10/line_under_test.h"
#include "unit/os/resident_pages.h"

namespace hakozuna::hz10 {
namespace {

class DepotTest : public Hz10Test, public testing::WithParamInterface<size_t> {};

TEST_P(DepotTest, SlotsAreTakenLowestFirst) {
  Hz10::trim(0);
  const std::vector<char*> blocks = allocate(GetParam(), 4);
  EXPECT_TRUE(std::is_sorted(blocks.begin(), blocks.end()));
  deallocate(blocks);
}

TEST_P(DepotTest, BlocksAreDistinctAndKeepTheirContents) {
  constexpr size_t kCount = 1500;
  const std::vector<char*> blocks = allocate(GetParam(), kCount);
  EXPECT_EQ(std::set<char*>(blocks.begin(), blocks.end()).size(), kCount);
  for (size_t i = 0; i < kCount; ++i) test::fill_sparse(blocks[i], GetParam(), i);
  for (size_t i = 0; i < kCount; ++i) EXPECT_TRUE(test::has_sparse(blocks[i], GetParam(), i));
  for (const char* block : blocks) EXPECT_EQ(verdict(block), Verdict::kValid);
  expect_identity();
  deallocate(blocks);
}

TEST_P(DepotTest, EmptySpansAreGivenBack) {
  const uint64_t before = statistics().spans;
  const std::vector<char*> blocks = allocate(GetParam(), 3000);
  EXPECT_GT(statistics().spans, before + 1);
  deallocate(blocks);
  Hz10::trim(0);
  EXPECT_EQ(statistics().spans, 0u);
  for (const char* block : blocks) EXPECT_EQ(verdict(block), Verdict::kMetadata);
  EXPECT_EQ(statistics().live, 0u);
  EXPECT_EQ(statistics().free_in_spans, 0u);
}

TEST_P(DepotTest, FreePagesBetweenLiveBlocksGoBack) {
  std::vector<char*> blocks = allocate(GetParam(), 1000);
  std::vector<char*> kept;
  for (size_t i = 0; i < blocks.size(); ++i) {
    test::fill_sparse(blocks[i], GetParam(), i);
    if (i % 100 == 50) {
      kept.push_back(blocks[i]);
    } else {
      Hz10::deallocate(blocks[i]);
    }
  }
  Hz10::trim(0);
  const size_t page = os::page_bytes();
  EXPECT_LE(statistics().free_in_spans, kept.size() * (2 * page + GetParam()));
  expect_identity();
  for (size_t i = 0; i < kept.size(); ++i) EXPECT_TRUE(test::has_sparse(kept[i], GetParam(), i * 100 + 50));
  // What went back can be used again.
  blocks = allocate(GetParam(), 1000);
  for (size_t i = 0; i < blocks.size(); ++i) test::fill_sparse(blocks[i], GetParam(), 7000 + i);
  for (size_t i = 0; i < kept.size(); ++i) EXPECT_TRUE(test::has_sparse(kept[i], GetParam(), i * 100 + 50));
  for (size_t i = 0; i < blocks.size(); ++i) EXPECT_TRUE(test::has_sparse(blocks[i], GetParam(), 7000 + i));
  expect_identity();
  deallocate(blocks);
  deallocate(kept);
}

TEST_P(DepotTest, BlocksOutliveTheirThreads) {
  std::vector<char*> blocks;
  on_new_thread([&] {
    blocks = allocate(GetParam(), 50);
    for (size_t i = 0; i < blocks.size(); ++i) test::fill_sparse(blocks[i], GetParam(), i);
  });
  for (size_t i = 0; i < blocks.size(); ++i) {
    EXPECT_EQ(verdict(blocks[i]), Verdict::kValid);
    EXPECT_TRUE(test::has_sparse(blocks[i], GetParam(), i));
  }
  expect_identity();
  deallocate(blocks);
}

TEST_P(DepotTest, ThreadsThatPassBlocksAroundLoseNothing) {
  constexpr size_t kThreads = 4;
  std::mutex mutex;
  std::vector<std::pair<char*, uint64_t>> shared;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      test::Random random(t);
      for (uint64_t i = 0; i < 4000; ++i) {
        char* const block = allocate(GetParam());
        test::fill_sparse(block, GetParam(), i * kThreads + t);
        std::pair<char*, uint64_t> other{};
        {
          const std::lock_guard lock(mutex);
          shared.emplace_back(block, i * kThreads + t);
          if (shared.size() > 100) {
            std::swap(shared[random.below(shared.size())], shared.back());
            other = shared.back();
            shared.pop_back();
          }
        }
        if (other.first) {
          wrong += !test::has_sparse(other.first, GetParam(), other.second);
          Hz10::deallocate(other.first);
        }
        if (i % 1000 == 0) Hz10::trim(0);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& one : shared) {
    wrong += !test::has_sparse(one.first, GetParam(), one.second);
    Hz10::deallocate(one.first);
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(new_misuses(), 0u);
  expect_identity();
}

// Spans of many words, of one word of small slots, and of few large slots.
INSTANTIATE_TEST_SUITE_P(Sizes, DepotTest, testing::Values(64, 2048, 12000), testing::PrintToStringParamName());

TEST_F(Hz10Test, FreshBlocksAreZeroWithoutAWrite) {
  Hz10::trim(0);
  constexpr size_t kBytes = 40960;
  char* const block = static_cast<char*>(Hz10::allocate_zeroed(kBytes));
  EXPECT_EQ(test::resident_pages_within(block, kBytes), 0u);
  EXPECT_TRUE(test::is_zero(block, kBytes));
  test::fill_pattern(block, kBytes, 1);
  Hz10::deallocate(block);
  char* const again = static_cast<char*>(Hz10::allocate_zeroed(kBytes));
  EXPECT_EQ(again, block);
  EXPECT_TRUE(test::is_zero(again, Hz10::usable_size(again)));
  Hz10::deallocate(again);
}

TEST_F(Hz10Test, ZeroedBlocksAreZeroWhateverWasThere) {
  test::Random random(11);
  for (int i = 0; i < 20000; ++i) {
    const size_t bytes = random.size_between(1, i % 50 == 0 ? 600000 : 20000);
    char* const block = static_cast<char*>(Hz10::allocate_zeroed(bytes));
    ASSERT_TRUE(test::is_zero(block, Hz10::usable_size(block))) << bytes;
    test::fill_sparse(block, bytes, bytes);
    Hz10::deallocate(block);
    if (i % 1000 == 0) Hz10::trim(0);
  }
}

TEST_F(Hz10Test, UnusedRecordsAreUsedAgain) {
  deallocate(allocate(3000, 1000));
  Hz10::trim(0);
  const uint64_t metadata = statistics().metadata;
  for (int i = 0; i < 50; ++i) {
    deallocate(allocate(3000, 1000));
    Hz10::trim(0);
  }
  EXPECT_EQ(statistics().metadata, metadata);
}

TEST_F(Hz10Test, AStashGivesUpWhatWasNotNeeded) {
  deallocate(allocate(64, 3000));
  Hz10::thread_flush();
  const uint32_t count = depot_of(64).stash_count;
  EXPECT_GT(count, 1000u);
  bool more = false;
  return_free_pages(2, more);  // learns the low-water mark
  const std::vector<char*> some = allocate(64, 100);
  const uint32_t low = depot_of(64).stash_low;
  EXPECT_LT(low, count);
  return_free_pages(2, more);
  EXPECT_LE(depot_of(64).stash_count, count - low);
  EXPECT_TRUE(more);
  deallocate(some);
  expect_identity();
}

}  // namespace
}  // namespace hakozuna::hz10
