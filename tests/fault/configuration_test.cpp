// The environment: help, statistics at exit, and one clear line for every option that makes no
// sense.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "support/json_check.h"
#include "support/line_under_test.h"
#include "support/process.h"

namespace hakozuna::test {
namespace {

using Environment = std::vector<std::pair<std::string, std::string>>;

// A program that knows nothing of us.
Outcome echo(const Environment& environment) {
  return run({.arguments = {"/bin/echo", "hello"}, .environment = environment});
}

ptrdiff_t lines_in(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

bool contains(const std::string& text, const std::string& what) {
  return text.find(what) != text.npos;
}

class Configuration : public ::testing::Test {
 protected:
  void SetUp() override { REQUIRE_LINE(); }

  // The program runs all the same, and one line on standard error names the option.
  static void expect_one_complaint(const Environment& environment, const std::string& name) {
    const Outcome outcome = echo(environment);
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.output, "hello\n");
    EXPECT_EQ(lines_in(outcome.errors), 1) << outcome.errors;
    EXPECT_EQ(outcome.errors.rfind("hakozuna: ", 0), 0u) << outcome.errors;
    EXPECT_TRUE(contains(outcome.errors, name)) << outcome.errors;
  }
};

TEST_F(Configuration, NothingIsSaidByDefault) {
  const Outcome outcome = echo({});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.output, "hello\n");
  EXPECT_EQ(outcome.errors, "");
}

TEST_F(Configuration, GoodValuesAreAccepted) {
  const Outcome outcome = echo({{"HAKOZUNA_PURGE_DELAY_MS", "0"},
                                {"HAKOZUNA_ON_ERROR", "report"},
                                {"HAKOZUNA_RETAIN", "4MiB"},
                                {"HAKOZUNA_HUGE_PAGES", "auto"},
                                {"HAKOZUNA_LARGE_CACHE", "0"}});
  EXPECT_EQ(outcome.errors, "");
  EXPECT_EQ(outcome.output, "hello\n");
}

TEST_F(Configuration, AValueThatIsNoNumber) {
  expect_one_complaint({{"HAKOZUNA_PURGE_DELAY_MS", "banana"}}, "HAKOZUNA_PURGE_DELAY_MS");
}

TEST_F(Configuration, AValueOutOfRangeNamesTheRange) {
  expect_one_complaint({{"HAKOZUNA_PURGE_DELAY_MS", "60001"}}, "60000");
}

TEST_F(Configuration, AChoiceThatIsNone) {
  expect_one_complaint({{"HAKOZUNA_ON_ERROR", "explode"}}, "HAKOZUNA_ON_ERROR");
  expect_one_complaint({{"HAKOZUNA_ON_ERROR", "explode"}}, "report");
}

TEST_F(Configuration, ANameNobodyKnows) {
  expect_one_complaint({{"HAKOZUNA_NO_SUCH_OPTION", "1"}}, "HAKOZUNA_NO_SUCH_OPTION");
}

TEST_F(Configuration, HelpListsEveryOption) {
  const Outcome outcome = echo({{"HAKOZUNA_HELP", "1"}});
  const std::string help = outcome.errors;
  for (const char* option : {"ON_ERROR", "STATS", "PURGE_DELAY_MS", "RETAIN", "BACKGROUND",
                             "HUGE_PAGES", "LIMIT", "LARGE_CACHE"}) {
    EXPECT_TRUE(contains(help, option)) << option;
  }
  EXPECT_EQ(outcome.output, "hello\n") << "the program runs";
  EXPECT_EQ(outcome.exit_code, 0);
}

TEST_F(Configuration, StatisticsAtExit) {
  const Outcome text = echo({{"HAKOZUNA_STATS", "text"}});
  EXPECT_EQ(text.output, "hello\n");
  EXPECT_TRUE(contains(text.errors, "mapped")) << text.errors;
  EXPECT_TRUE(contains(text.errors, line_name())) << text.errors;

  const Outcome json = echo({{"HAKOZUNA_STATS", "json"}});
  EXPECT_EQ(json.output, "hello\n");
  EXPECT_EQ(problem_with_json(json.errors), "") << json.errors;
}

}  // namespace
}  // namespace hakozuna::test
