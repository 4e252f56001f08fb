// The fuzzer with repeatable random bytes, for as long as --seconds says. A failure names its seed.
#include <gtest/gtest.h>

#include <cstdint>

#include "fuzz/api_fuzzer.h"
#include "fuzz/interval_map.h"
#include "support/process.h"
#include "support/random.h"
#include "support/scratch_array.h"
#include "support/settings.h"

namespace hakozuna::test {
namespace {

constexpr size_t kBytes = 1 << 16;

const char* fuzz(uint64_t seed, double seconds) {
  ScratchArray<uint8_t> bytes(kBytes);
  Random random(seed);
  ApiFuzzer fuzzer;
  const double end = seconds_now() + seconds;
  do {
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random.next());
    if (const char* problem = fuzzer.run(bytes.begin(), bytes.size())) return problem;
  } while (seconds_now() < end);
  return fuzzer.finish();
}

class Fuzz : public ::testing::TestWithParam<uint64_t> {};

TEST_P(Fuzz, EveryAnswerAgreesWithTheOracle) {
  EXPECT_STREQ(fuzz(GetParam(), settings().seconds), nullptr) << "seed " << GetParam();
}

INSTANTIATE_TEST_SUITE_P(Seeds, Fuzz, ::testing::Range<uint64_t>(1, 7));

// Another seed at every start: over time, more is tried than the fixed ones do.
TEST(FuzzRandom, EveryAnswerAgreesWithTheOracle) {
  const auto seed = static_cast<uint64_t>(seconds_now() * 1e6);
  EXPECT_STREQ(fuzz(seed, settings().seconds), nullptr) << "seed " << seed;
}

// The oracle itself must be able to say no.
TEST(Oracle, KnowsAnOverlap) {
  IntervalMap blocks(16);
  const auto block = [](uintptr_t start, size_t usable) {
    return LiveBlock{start, usable, usable, 1, 0};
  };
  EXPECT_TRUE(blocks.insert(block(1000, 100)));
  EXPECT_TRUE(blocks.insert(block(1100, 100)));
  EXPECT_TRUE(blocks.insert(block(900, 100)));
  EXPECT_FALSE(blocks.insert(block(1000, 100)));
  EXPECT_FALSE(blocks.insert(block(1050, 10)));
  EXPECT_FALSE(blocks.insert(block(1199, 100)));
  EXPECT_FALSE(blocks.insert(block(800, 101)));
  EXPECT_FALSE(blocks.insert(block(800, 1000)));
  EXPECT_EQ(blocks.usable_total(), 300u);
  blocks.erase(1);
  EXPECT_TRUE(blocks.insert(block(1050, 50)));
  EXPECT_FALSE(blocks.insert(block(1050, 1)));
  EXPECT_EQ(blocks.usable_total(), 250u);
}

}  // namespace
}  // namespace hakozuna::test
