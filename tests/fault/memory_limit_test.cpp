// Little address space, and none left: allocation fails with ENOMEM, and works again when memory is
// back.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "support/line_under_test.h"
#include "support/process.h"
#include "support/settings.h"

namespace hakozuna::test {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

// Bytes the program could allocate, in MiB; 0 if it failed.
size_t exhaust(const char* kind, size_t size, size_t address_space, const char* limit = "") {
  const Outcome outcome =
      run({.arguments = {settings().helpers + "/memory_limit_program", kind, std::to_string(size)},
           .environment = {{"HAKOZUNA_LIMIT", limit}},
           .address_space_bytes = address_space});
  EXPECT_FALSE(outcome.timed_out);
  EXPECT_EQ(outcome.exit_code, 0) << "signal " << outcome.signal << ": " << outcome.errors;
  size_t mebibytes = 0;
  EXPECT_EQ(std::sscanf(outcome.output.c_str(), "ok %zu", &mebibytes), 1) << outcome.output;
  return mebibytes;
}

class AddressSpaceLimit : public ::testing::TestWithParam<size_t> {};

TEST_P(AddressSpaceLimit, Of512MiBIsUsableAndSurvivable) {
  EXPECT_GE(exhaust("one", GetParam(), 512 * kMiB), 350u) << "of 512 MiB, blocks of " << GetParam();
}

TEST_P(AddressSpaceLimit, ReachedByFourThreadsAtOnce) {
  EXPECT_GE(exhaust("threads", GetParam(), 512 * kMiB), 250u);
}

INSTANTIATE_TEST_SUITE_P(Blocks, AddressSpaceLimit,
                         ::testing::Values(64, 1000, 20'000, 100'000, 1'000'000, 10'000'000),
                         [](const auto& tested) { return "Of" + std::to_string(tested.param); });

TEST(AddressSpaceLimitOf, AThirtyMegabyteProcessStillRuns) {
  const Outcome outcome = run({.arguments = {"/bin/ls", "/"}, .address_space_bytes = 30'000 * 1024});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_EQ(outcome.errors, "");
}

TEST(DataLimit, AReallocThatFailsLeavesTheBlock) {
  const Outcome outcome = run({.arguments = {settings().helpers + "/memory_limit_program", "realloc", std::to_string(64 * kMiB)}});
  EXPECT_EQ(outcome.exit_code, 0) << "signal " << outcome.signal << ": " << outcome.errors;
}

TEST(SoftLimit, FailsAllocationsAboveIt) {
  REQUIRE_LINE();
  for (const size_t size : {size_t{1000}, size_t{100'000}, 2 * kMiB}) {
    // The limit of the address space only keeps the machine safe from a line that knows no other.
    const size_t got = exhaust("one", size, 2048 * kMiB, "128MiB");
    EXPECT_GE(got, 64u) << size;
    EXPECT_LE(got, 136u) << size;
  }
}

}  // namespace
}  // namespace hakozuna::test
