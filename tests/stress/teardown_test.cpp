// Threads and processes that allocate while they end.
#include <gtest/gtest.h>

#include <string>

#include "support/process.h"
#include "support/settings.h"

namespace hakozuna::test {
namespace {

size_t count(const std::string& text, const std::string& what) {
  size_t found = 0;
  for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++found;
  return found;
}

TEST(Teardown, AllocationWorksToTheVeryEnd) {
  for (int i = 0; i < 20; ++i) {
    const Outcome outcome =
        run({.arguments = {settings().helpers + "/teardown_program"}, .timeout_seconds = 30});
    ASSERT_FALSE(outcome.timed_out);
    ASSERT_EQ(outcome.signal, 0) << outcome.errors;
    ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
    EXPECT_EQ(outcome.errors, "");
    EXPECT_EQ(count(outcome.output, "in the last round of destructors"), 10u);
    EXPECT_EQ(count(outcome.output, "of a thread_local object"), 11u);
    EXPECT_EQ(count(outcome.output, "in an exit handler"), 1u);
    EXPECT_EQ(count(outcome.output, "of a static object"), 1u);
  }
}

}  // namespace
}  // namespace hakozuna::test
