// Version, name, and options at run time.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "support/line_under_test.h"

namespace hakozuna::test {
namespace {

class Options : public ::testing::Test {
 protected:
  void SetUp() override { REQUIRE_LINE(); }

  static std::string get(const char* name) {
    char buffer[128] = "?";
    EXPECT_EQ(api().option_get(name, buffer, sizeof buffer), 0) << name;
    return buffer;
  }
};

TEST_F(Options, VersionIsThatOfTheHeader) {
  EXPECT_EQ(api().version(),
            HAKOZUNA_VERSION_MAJOR * 10000 + HAKOZUNA_VERSION_MINOR * 100 + HAKOZUNA_VERSION_PATCH);
}

TEST_F(Options, DefaultsAreThoseOfTheDocumentation) {
  EXPECT_EQ(get("ON_ERROR"), "abort");
  EXPECT_EQ(get("PURGE_DELAY_MS"), "500");
  EXPECT_EQ(get("HUGE_PAGES"), "never");
}

TEST_F(Options, NamesWithAndWithoutThePrefix) {
  EXPECT_EQ(get("HAKOZUNA_PURGE_DELAY_MS"), get("PURGE_DELAY_MS"));
}

TEST_F(Options, WhatIsSetIsRead) {
  ASSERT_EQ(api().option_set("PURGE_DELAY_MS", "1234"), 0);
  EXPECT_EQ(get("PURGE_DELAY_MS"), "1234");
  ASSERT_EQ(api().option_set("HAKOZUNA_PURGE_DELAY_MS", "0"), 0);
  EXPECT_EQ(get("PURGE_DELAY_MS"), "0");
  ASSERT_EQ(api().option_set("ON_ERROR", "report"), 0);
  EXPECT_EQ(get("ON_ERROR"), "report");
}

TEST_F(Options, BadNamesAndValuesChangeNothing) {
  EXPECT_EQ(api().option_set("NO_SUCH_OPTION", "1"), ENOENT);
  EXPECT_EQ(api().option_set("", "1"), ENOENT);
  for (const char* value : {"", "banana", "-1", "60001", "12x", "99999999999999999999999"}) {
    EXPECT_EQ(api().option_set("PURGE_DELAY_MS", value), EINVAL) << value;
  }
  EXPECT_EQ(api().option_set("ON_ERROR", "explode"), EINVAL);
  EXPECT_EQ(get("PURGE_DELAY_MS"), "500");
  EXPECT_EQ(get("ON_ERROR"), "abort");
}

TEST_F(Options, GetNeedsANameAndRoom) {
  char buffer[128];
  EXPECT_EQ(api().option_get("NO_SUCH_OPTION", buffer, sizeof buffer), ENOENT);
  EXPECT_EQ(api().option_get("ON_ERROR", buffer, 3), ERANGE);
  EXPECT_EQ(api().option_get("ON_ERROR", buffer, 5), ERANGE) << "no room for the terminator";
  EXPECT_EQ(api().option_get("ON_ERROR", buffer, 6), 0);
}

}  // namespace
}  // namespace hakozuna::test
