// Random operations with all contents checked, over every range of sizes, in one thread and in
// several.
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "stress/block_set.h"
#include "support/line_under_test.h"
#include "support/process.h"
#include "support/settings.h"

namespace hakozuna::test {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

struct Range {
  const char* name;
  BlockSetLimits limits;
};

const Range kRanges[] = {
    {"Small", {.slots = 20'000, .max_size = 1024}},
    {"Mixed", {.slots = 5'000, .max_size = 65'536}},
    {"Medium", {.slots = 1'000, .max_size = 600'000}},
    {"Large", {.slots = 100, .max_size = 20 * kMiB}},
};

// Works until the time is over; the problem found, empty if there was none.
std::string work(const BlockSetLimits& limits, uint64_t seed, double seconds) {
  BlockSet blocks(limits, seed);
  const double end = seconds_now() + seconds;
  do {
    for (int i = 0; i < 1000; ++i) {
      if (!blocks.step()) return blocks.what();
    }
  } while (seconds_now() < end);
  return blocks.free_all() ? "" : blocks.what();
}

class RandomOperations : public ::testing::TestWithParam<Range> {};

TEST_P(RandomOperations, InOneThread) {
  EXPECT_EQ(work(GetParam().limits, 1, settings().seconds), "");
  EXPECT_EQ(problem_with_statistics(), "");
}

TEST_P(RandomOperations, InEightThreads) {
  constexpr size_t kThreads = 8;
  BlockSetLimits limits = GetParam().limits;
  limits.slots /= 2;
  limits.max_total /= kThreads;
  std::vector<std::string> problems(kThreads);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] { problems[i] = work(limits, 100 + i, settings().seconds); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& problem : problems) EXPECT_EQ(problem, "");
  EXPECT_EQ(problem_with_statistics(), "");
}

INSTANTIATE_TEST_SUITE_P(Sizes, RandomOperations, ::testing::ValuesIn(kRanges),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace hakozuna::test
