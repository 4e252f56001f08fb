#include "common/base/bits.h"

#include <gtest/gtest.h>

#include "support/random.h"

namespace hakozuna {
namespace {

TEST(Bits, PowersOfTwoAreTheWordsWithOneBit) {
  EXPECT_FALSE(is_power_of_two(0));
  for (uint32_t i = 0; i < 64; ++i) {
    const uint64_t power = uint64_t{1} << i;
    EXPECT_TRUE(is_power_of_two(power));
    EXPECT_EQ(is_power_of_two(power - 1), i == 1) << i;
    EXPECT_EQ(is_power_of_two(power + 1), i == 0) << i;
  }
}

TEST(Bits, AlignmentIsThatOfDivision) {
  test::Random random(1);
  for (uint32_t shift = 0; shift < 40; ++shift) {
    const uint64_t alignment = uint64_t{1} << shift;
    for (int i = 0; i < 1000; ++i) {
      const uint64_t value = random.next() >> 1;  // rounding up does not wrap
      const uint64_t down = value / alignment * alignment;
      EXPECT_EQ(align_down(value, alignment), down);
      EXPECT_EQ(align_up(value, alignment), down == value ? value : down + alignment);
      EXPECT_EQ(is_aligned(value, alignment), down == value);
      EXPECT_TRUE(is_aligned(down, alignment));
    }
  }
}

TEST(Bits, RoundingUpWrapsToZeroAtTheEnd) {
  EXPECT_EQ(align_up(~uint64_t{0}, 4096), 0u);
  EXPECT_EQ(align_up(~uint64_t{0} - 4094, 4096), 0u);
  EXPECT_EQ(align_up(~uint64_t{0} - 4095, 4096), ~uint64_t{0} - 4095);
}

TEST(Bits, PointersRoundUpLikeNumbers) {
  alignas(64) char buffer[128];
  EXPECT_EQ(align_up(buffer, 64), buffer);
  for (int i = 1; i <= 64; ++i) EXPECT_EQ(align_up(buffer + i, 64), buffer + 64);
}

TEST(Bits, DivideUpCountsTheLastPart) {
  for (uint64_t divisor = 1; divisor < 70; ++divisor) {
    for (uint64_t value = 0; value < 300; ++value) {
      EXPECT_EQ(divide_up(value, divisor), value / divisor + (value % divisor != 0));
    }
  }
}

TEST(Bits, LowestBitAndLogarithm) {
  test::Random random(2);
  for (uint32_t i = 0; i < 64; ++i) {
    const uint64_t bit = uint64_t{1} << i;
    EXPECT_EQ(lowest_bit(bit), i);
    EXPECT_EQ(log2_floor(bit), i);
    for (int j = 0; j < 50; ++j) {
      EXPECT_EQ(lowest_bit(bit | (random.next() & ~(bit | (bit - 1)))), i);
      EXPECT_EQ(log2_floor(bit | (random.next() & (bit - 1))), i);
    }
  }
}

TEST(Bits, WordsOfLowBits) {
  uint64_t expected = 0;
  for (uint32_t count = 0; count <= 64; ++count) {
    EXPECT_EQ(low_bits(count), expected);
    expected = expected * 2 + 1;
  }
  // The last words of a span's bitmap ask for what a subtraction below zero gives them.
  EXPECT_EQ(low_bits(1000), ~uint64_t{0});
}

TEST(Bits, RangesHoldBothEnds) {
  for (uint32_t first = 0; first < 64; ++first) {
    uint64_t expected = 0;
    for (uint32_t last = first; last < 64; ++last) {
      expected |= uint64_t{1} << last;
      EXPECT_EQ(bit_range(first, last), expected);
    }
  }
}

static_assert(align_up(uint64_t{1}, 16) == 16 && low_bits(3) == 7, "usable at compile time");

}  // namespace
}  // namespace hakozuna
