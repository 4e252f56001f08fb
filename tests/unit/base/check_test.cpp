#include "common/base/check.h"

#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include "unit/core/child_process.h"

namespace hakozuna {
namespace {

TEST(Check, FailureIsOneLineWithThePlaceAndEndsTheProcess) {
  const test::Ending ending =
      test::run_in_child([] { check_failed("a span has an owner", "src/hz8/spans.cpp", 12); });
  EXPECT_EQ(ending.signal, SIGABRT);
  EXPECT_EQ(ending.errors,
            "hakozuna: invariant broken: a span has an owner at src/hz8/spans.cpp:12\n");
}

TEST(Check, WhatHoldsIsSilent) {
  const test::Ending ending = test::run_in_child([] { HAKOZUNA_CHECK(1 + 1 == 2, "sums"); });
  EXPECT_EQ(ending.exit_code, 0);
  EXPECT_EQ(ending.errors, "");
}

#if defined(HAKOZUNA_CHECKED) && HAKOZUNA_CHECKED
TEST(Check, NamesTheLineOfTheCheck) {
  int line = 0;
  const test::Ending ending = test::run_in_child([&line] {
    line = 5;
    HAKOZUNA_CHECK(line == 4, "four");
  });
  EXPECT_EQ(ending.signal, SIGABRT);
  const std::string place = std::string(__FILE__) + ":" + std::to_string(__LINE__ - 3) + "\n";
  EXPECT_EQ(ending.errors, "hakozuna: invariant broken: four at " + place);
}
#else
TEST(Check, IsNotEvaluatedInAnUncheckedBuild) {
  int evaluated = 0;
  const auto condition = [&evaluated] {
    ++evaluated;
    return false;
  };
  HAKOZUNA_CHECK(condition(), "never looked at");
  EXPECT_EQ(evaluated, 0);
}
#endif

}  // namespace
}  // namespace hakozuna
