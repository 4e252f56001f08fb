// Exhaustive: every size, every alignment, every offset.
#include "common/mem/size_classes.h"

#include <gtest/gtest.h>

namespace hakozuna::mem {
namespace {

constexpr SizeClasses kUnshifted = make_size_classes({});
constexpr RunLayout kLayouts[] = {{}, {.shifted_from = kSmallClassCount}, {.least_slots = 16, .shifted_from = kSmallClassCount}};

TEST(SizeClasses, EverySizeHasTheSmallestClassThatHoldsIt) {
  for (size_t size = 0; size <= kMaxSlotBytes; ++size) {
    const uint32_t c = class_of(size);
    ASSERT_LT(c, kClassCount) << size;
    ASSERT_GE(slot_bytes_of(c), size);
    ASSERT_TRUE(c == 0 || slot_bytes_of(c - 1) < size) << size;
  }
}

TEST(SizeClasses, WasteIsAtMostAnEighthOrFifteenBytes) {
  for (size_t size = 1; size <= kMaxSlotBytes; ++size) {
    const size_t waste = slot_bytes_of(class_of(size)) - size;
    if (size <= kLinearLimit) {
      ASSERT_LE(waste, kMinAlignment - 1) << size;
    } else {
      ASSERT_LT(waste * 8, size) << size;
    }
  }
}

TEST(SizeClasses, TheTableOfSmallOnesAgrees) {
  for (size_t size = 0; size <= kSmallLimit; ++size) ASSERT_EQ(small_class_of(size), class_of(size));
  EXPECT_EQ(class_of(kSmallLimit), kSmallClassCount - 1);
  EXPECT_EQ(class_of(kSmallLimit + 1), kSmallClassCount);
}

TEST(SizeClasses, SizesAscendInMultiplesOfTheAlignment) {
  size_t last = 0;
  for (uint32_t c = 0; c < kClassCount; ++c) {
    EXPECT_GT(slot_bytes_of(c), last);
    EXPECT_TRUE(is_aligned(slot_bytes_of(c), kMinAlignment));
    last = slot_bytes_of(c);
  }
  EXPECT_EQ(last, kMaxSlotBytes);
}

TEST(SizeClasses, EveryPowerOfTwoIsAClass) {
  for (size_t size = kMinAlignment; size <= kMaxSlotBytes; size *= 2) {
    EXPECT_EQ(slot_bytes_of(class_of(size)), size);
  }
}

TEST(SizeClasses, SlotsFitTheirRunWithTheRemainderInFront) {
  for (const RunLayout layout : kLayouts) {
    const SizeClasses classes = make_size_classes(layout);
    for (uint32_t c = 0; c < kClassCount; ++c) {
      const SizeClass& geometry = classes[c];
      SCOPED_TRACE(geometry.slot_bytes);
      EXPECT_EQ(geometry.slot_bytes, slot_bytes_of(c));
      EXPECT_LE(geometry.order, kMaxRunOrder);
      EXPECT_EQ(geometry.run_bytes(), kChunkBytes << geometry.order);
      const size_t behind = geometry.run_bytes() - geometry.first_slot - size_t{geometry.slot_count} * geometry.slot_bytes;
      EXPECT_EQ(behind, geometry.is_shifted() ? kShift : 0u);
      EXPECT_TRUE(c >= layout.shifted_from || !geometry.is_shifted());
      EXPECT_LT(geometry.first_slot, geometry.slot_bytes);
      const size_t least = geometry.slot_bytes <= kChunkBytes ? layout.least_slots : 4;
      EXPECT_GE(geometry.slot_count, least);
      EXPECT_EQ(geometry.words(), (geometry.slot_count + 63) / 64);
      EXPECT_LE(geometry.words(), 64u) << "words of a span are summarised in one";
      EXPECT_TRUE(c < kSmallClassCount || geometry.words() == 1) << "marks go by slot";
      EXPECT_TRUE(geometry.order == 0 || geometry.run_bytes() / 2 < least * geometry.slot_bytes) << "no larger than needed";
    }
  }
}

TEST(SizeClasses, EveryAlignmentHasTheSmallestFittingClass) {
  for (size_t alignment = 1; alignment <= 2 * kMaxSlotBytes; alignment *= 2) {
    for (size_t size = 0; size <= kMaxSlotBytes + 16; size += size < 8192 ? 1 : 61) {
      uint32_t expected = 0;
      while (expected < kClassCount && (slot_bytes_of(expected) < size ||
                                        !is_aligned(slot_bytes_of(expected), alignment))) {
        ++expected;
      }
      // A whole slot is aligned: a class below the alignment never is.
      ASSERT_EQ(aligned_class_of(alignment, size, kUnshifted), expected) << alignment << " " << size;
    }
  }
}

TEST(SizeClasses, SlotsOfAnAlignedClassAreAligned) {
  for (size_t alignment = 1; alignment <= kMaxSlotBytes; alignment *= 2) {
    const uint32_t c = aligned_class_of(alignment, 1, kUnshifted);
    ASSERT_LT(c, kClassCount);
    const SizeClass& geometry = kUnshifted[c];
    // Runs are aligned to their size, which is at least four slots.
    EXPECT_TRUE(is_aligned(geometry.first_slot, alignment < geometry.run_bytes()
                                                    ? alignment
                                                    : geometry.run_bytes()));
    EXPECT_LE(alignment, geometry.run_bytes());
  }
}

TEST(SizeClasses, WhatIsAlignedToMoreThanTheShiftIsNotShifted) {
  const SizeClasses classes = make_size_classes(kLayouts[1]);
  for (size_t alignment = 16; alignment <= kMaxSlotBytes; alignment *= 2) {
    for (size_t size = 1; size <= kMaxSlotBytes; size += size < 8192 ? 7 : 4093) {
      const uint32_t c = aligned_class_of(alignment, size, classes);
      if (c == kClassCount) continue;
      ASSERT_TRUE(alignment <= kShift || !classes[c].is_shifted());
      ASSERT_GE(c, aligned_class_of(alignment, size, kUnshifted));
    }
  }
}

// Against plain division, for every byte of a run: before the first slot the offset is negative.
TEST(SlotPosition, EveryOffsetOfEveryRun) {
  for (uint32_t c = 0; c < kClassCount; ++c) {
    const SizeClass& geometry = kUnshifted[c];
    const int64_t first = geometry.first_slot;
    const int64_t bytes = geometry.slot_bytes;
    for (int64_t at = 0; at < first; ++at) {
      ASSERT_FALSE(slot_position(static_cast<uint64_t>(at - first), geometry.reciprocal).exact)
          << bytes << " " << at - first;
    }
    int64_t slot = 0;
    int64_t within = 0;
    for (int64_t at = first; at < static_cast<int64_t>(geometry.run_bytes()); ++at) {
      const SlotPosition position =
          slot_position(static_cast<uint64_t>(at - first), geometry.reciprocal);
      ASSERT_EQ(position.slot, static_cast<uint64_t>(slot)) << bytes << " " << at;
      ASSERT_EQ(position.exact, within == 0) << bytes << " " << at;
      if (++within == bytes) {
        within = 0;
        ++slot;
      }
    }
    ASSERT_EQ(slot, geometry.slot_count);
  }
}

}  // namespace
}  // namespace hakozuna::mem
