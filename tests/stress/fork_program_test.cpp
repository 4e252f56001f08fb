// Programs that fork at moments that are hard on an allocator.
#include <gtest/gtest.h>

#include <string>

#include "support/process.h"
#include "support/settings.h"

namespace hakozuna::test {
namespace {

void expect_good_end(const std::string& mode) {
  const Outcome outcome = run({.arguments = {settings().helpers + "/fork_program", mode}, .timeout_seconds = 100});
  EXPECT_FALSE(outcome.timed_out);
  EXPECT_EQ(outcome.signal, 0);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.errors, "");
}

TEST(ForkProgram, HandlersOfLibrariesMayAllocate) { expect_good_end("handlers"); }

TEST(ForkProgram, CallocIsZeroInAChildThatWasForkedDuringAPurge) { expect_good_end("purge"); }

TEST(ForkProgram, AChildForkedInTheLastDestructorHasItsHeapToItself) { expect_good_end("destructor"); }

}  // namespace
}  // namespace hakozuna::test
