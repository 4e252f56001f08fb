// Larger slots begin a little before a page boundary.
#include "support/pattern.h"
#include "unit/hz8/line_under_test.h"
#include "unit/os/resident_pages.h"

namespace hakozuna::hz8 {
namespace {

TEST_F(Hz8Test, TheEndOfALargerBlockIsOnThePageWhereTheNextBegins) {
  const size_t page = os::page_bytes();
  size_t shifted = 0;
  for (uint32_t c = kShiftedFrom; c < mem::kClassCount; ++c) {
    if (!kSizeClasses[c].is_shifted()) continue;
    ++shifted;
    const uintptr_t second = kSizeClasses[c].first_slot + mem::slot_bytes_of(c);
    EXPECT_EQ((second - 1) / page, second / page) << mem::slot_bytes_of(c);
  }
  EXPECT_GT(shifted, 20u);
  for (uint32_t c = 0; c < kShiftedFrom; ++c) EXPECT_FALSE(kSizeClasses[c].is_shifted());
}

TEST_F(Hz8Test, PlacesAroundTheSlotsAreNoBlocks) {
  Worker other;
  for (uint32_t c = 0; c < mem::kClassCount; ++c) {
    const size_t bytes = mem::slot_bytes_of(c);
    char* const block = static_cast<char*>(Hz8::allocate(bytes));
    const Span* const span = find_span(block);
    char* const run = run_of(span);
    const uint64_t free_before = free_slots(span);
    std::vector<char*> places;
    char* const behind = span->first_slot + size_t{span->slot_count} * bytes;
    if (behind != run + run_bytes(span)) {
      ASSERT_TRUE(kSizeClasses[c].is_shifted()) << bytes;
      places.push_back(behind);
      places.push_back(run + run_bytes(span) - 16);
    }
    if (span->first_slot != run) {
      places.push_back(run);
      places.push_back(span->first_slot - 16);
    }
    for (char* place : places) {
      EXPECT_EQ(verdict(place), Verdict::kTailSlack) << bytes;
      EXPECT_EQ(Hz8::usable_size(place), 0u);
      Hz8::deallocate(place);
      other.deallocate(place);
      EXPECT_EQ(new_misuses(), 2u) << bytes;
    }
    EXPECT_EQ(free_slots(span), free_before);
    Hz8::deallocate(block);
    EXPECT_EQ(new_misuses(), 0u);
  }
}

TEST_F(Hz8Test, AlignmentIsKeptWhereSlotsAreShifted) {
  for (size_t alignment = 16; alignment <= mem::kMaxSlotBytes; alignment *= 2) {
    for (size_t bytes : {size_t{1}, size_t{4097}, size_t{17000}, size_t{20000}, size_t{50000}, size_t{200000}}) {
      char* const block = static_cast<char*>(Hz8::allocate_aligned(alignment, bytes));
      ASSERT_NE(block, nullptr);
      EXPECT_TRUE(is_aligned(reinterpret_cast<uintptr_t>(block), alignment)) << alignment << " " << bytes;
      EXPECT_GE(Hz8::usable_size(block), bytes);
      Hz8::deallocate(block);
    }
  }
}

TEST_F(Hz8Test, FreshSlotsThatShareAPageAreZero) {
  constexpr size_t kBytes = 40960;
  std::vector<char*> blocks;
  for (size_t i = 0; i < 30; ++i) {
    blocks.push_back(static_cast<char*>(Hz8::allocate_zeroed(kBytes)));
    ASSERT_TRUE(test::is_zero(blocks.back(), kBytes));
    test::fill_pattern(blocks.back(), kBytes, i);
  }
  for (size_t i = 0; i < blocks.size(); ++i) EXPECT_TRUE(test::has_pattern(blocks[i], kBytes, i));
  // Every second one goes and its pages with it, but for those on which a neighbour is.
  for (size_t i = 0; i < blocks.size(); i += 2) Hz8::deallocate(blocks[i]);
  Hz8::thread_flush();
  expect_identity();
  for (size_t i = 0; i < blocks.size(); i += 2) {
    blocks[i] = static_cast<char*>(Hz8::allocate_zeroed(kBytes));
    ASSERT_TRUE(test::is_zero(blocks[i], kBytes));
    test::fill_pattern(blocks[i], kBytes, i);
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    EXPECT_TRUE(test::has_pattern(blocks[i], kBytes, i));
    Hz8::deallocate(blocks[i]);
  }
}

}  // namespace
}  // namespace hakozuna::hz8
