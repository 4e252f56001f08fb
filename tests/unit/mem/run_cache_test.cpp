#include "common/mem/run_cache.h"

#include <gtest/gtest.h>

#include <vector>

#include "common/mem/chunk_supply.h"
#include "common/os/os.h"

namespace hakozuna::mem {
namespace {

class RunCacheTest : public testing::Test {
 protected:
  RunCacheTest() { chunk_supply.initialise(128); }
  ~RunCacheTest() override {
    cache_.give_up_cached(0);
    cache_.give_up_cold(0);
  }

  char* take(uint32_t order) { return cache_.take(order, /*limit_bytes=*/0); }
  void put(char* run, uint32_t order) { cache_.put(run, order, /*retain_bytes=*/0); }

  RunCache cache_;
};

TEST_F(RunCacheTest, IsBoundedByRunsAndGivesTheOldestUp) {
  std::vector<char*> runs;
  for (uint32_t i = 0; i < RunCache::kMaxRuns + 3; ++i) runs.push_back(take(0));
  for (char* run : runs) put(run, 0);
  EXPECT_EQ(cache_.cached_count(), RunCache::kMaxRuns);
  EXPECT_LE(cache_.cached_bytes(), RunCache::kMaxBytes);
  for (uint32_t i = 0; i < runs.size(); ++i) EXPECT_EQ(cache_.keeps(runs[i]), i >= 3) << i;
  EXPECT_EQ(take(0), runs.back()) << "the youngest is the warmest";
  put(runs.back(), 0);
}

TEST_F(RunCacheTest, IsBoundedByBytes) {
  char* const runs[3] = {take(3), take(3), take(3)};
  for (char* run : runs) put(run, 3);
  EXPECT_EQ(cache_.cached_count(), 2u) << "three of 512 KiB exceed the budget";
  EXPECT_FALSE(cache_.keeps(runs[0]));
  cache_.give_up_cached(0);
  EXPECT_EQ(cache_.cached_bytes(), 0u);
  char* const block = take(kMaxRunOrder);
  put(block, kMaxRunOrder);
  EXPECT_EQ(cache_.cached_count(), 0u) << "a run of more than half the budget is not kept";
}

TEST_F(RunCacheTest, GivesUpOnlyWhatIsOld) {
  char* const first = take(0);
  char* const second = take(0);
  const uint64_t start = os::coarse_milliseconds();
  put(first, 0);
  while (os::coarse_milliseconds() < start + 20) os::sleep_milliseconds(5);
  put(second, 0);
  EXPECT_TRUE(cache_.give_up_older(static_cast<uint32_t>(start), 0)) << "before, not at";
  EXPECT_TRUE(cache_.keeps(first));
  EXPECT_TRUE(cache_.give_up_older(static_cast<uint32_t>(start + 20), 0));
  EXPECT_FALSE(cache_.keeps(first));
  EXPECT_TRUE(cache_.keeps(second));
  EXPECT_FALSE(cache_.give_up_older(static_cast<uint32_t>(start + 10000), 0));
}

TEST_F(RunCacheTest, WarmMemoryGoesBeforeCold) {
  char* const cold = take(0);
  EXPECT_FALSE(cache_.has_cached());
  char* const other = take(0);
  chunk_supply.mark_resident(cold, kChunkBytes);
  chunk_supply.release_run(cold, 0, os::coarse_milliseconds(), /*retain_bytes=*/UINT64_MAX);
  EXPECT_EQ(take(0), cold);
  put(cold, 0);
  put(other, 0);
}

TEST_F(RunCacheTest, ColdRunsAreCutFromOneBlock) {
  std::vector<char*> runs;
  cache_.give_up_cold(0);
  for (uint32_t i = 0; i < kBlockChunks; ++i) runs.push_back(take(0));
  int neighbours = 0;
  for (size_t i = 1; i < runs.size(); ++i) neighbours += runs[i] == runs[i - 1] + kChunkBytes;
  EXPECT_GE(neighbours, static_cast<int>(kBlockChunks / 2)) << "most are neighbours";
  for (char* run : runs) put(run, 0);
}

// A run that nobody takes back because the thread is gone must not be in two places.
TEST_F(RunCacheTest, WhatIsForgottenIsNotGivenUp) {
  char* const run = take(0);
  put(run, 0);
  ASSERT_TRUE(cache_.keeps(run));
  cache_.lock().lock();
  cache_.lock().reset_after_fork();
  cache_.forget_after_fork();
  EXPECT_FALSE(cache_.keeps(run));
  EXPECT_FALSE(cache_.has_cached());
  chunk_supply.release_run(run, 0, 0, 0);
}

}  // namespace
}  // namespace hakozuna::mem
