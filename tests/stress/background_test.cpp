// HAKOZUNA_BACKGROUND: memory goes back while no thread of the program calls the allocator.
#include <gtest/gtest.h>

#include <cstdio>

#include "support/line_under_test.h"
#include "support/process.h"
#include "support/settings.h"

namespace hakozuna::test {
namespace {

struct Resident {
  size_t before = 0;
  size_t after = 0;
};

Resident resident_of(const char* mode, const char* background) {
  const Outcome outcome = run({.arguments = {settings().helpers + "/background_program", mode},
                               .environment = {{"HAKOZUNA_BACKGROUND", background}}});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  Resident resident;
  EXPECT_EQ(std::sscanf(outcome.output.c_str(), "%zu %zu", &resident.before, &resident.after), 2)
      << outcome.output;
  return resident;
}

TEST(Background, ReturnsMemoryOfAnIdleProcess) {
  REQUIRE_LINE();
  const Resident resident = resident_of("here", "1");
  EXPECT_GE(resident.before, 50u);
  EXPECT_LE(resident.after, 10u);
}

TEST(Background, ReturnsMemoryOfAnIdleChild) {
  REQUIRE_LINE();
  const Resident resident = resident_of("fork", "1");
  EXPECT_GE(resident.before, 50u);
  EXPECT_LE(resident.after, 10u);
}

TEST(Background, WithoutItAnIdleProcessKeepsItsMemory) {
  REQUIRE_LINE();
  const Resident resident = resident_of("here", "0");
  EXPECT_GE(resident.after, 50u);
}

}  // namespace
}  // namespace hakozuna::test
