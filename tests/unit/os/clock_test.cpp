#include "common/os/clock.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <thread>

namespace hakozuna::os {
namespace {

TEST(Clock, NeverGoesBackAndIsNeverZero) {
  uint64_t last = coarse_milliseconds();
  EXPECT_GT(last, 0u);
  for (int i = 0; i < 200000; ++i) {
    const uint64_t now = coarse_milliseconds();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(Clock, GoesAtTheSpeedOfTheOthersToATick) {
  const auto begin = std::chrono::steady_clock::now();
  const uint64_t first = coarse_milliseconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(80));
  const uint64_t second = coarse_milliseconds();
  const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(
                          std::chrono::steady_clock::now() - begin)
                          .count();
  EXPECT_GE(second - first, 80u - 11u);
  EXPECT_LE(second - first, static_cast<uint64_t>(passed) + 11u);
}

TEST(Clock, LeavesErrnoAlone) {
  errno = 99;
  coarse_milliseconds();
  EXPECT_EQ(errno, 99);
}

}  // namespace
}  // namespace hakozuna::os
