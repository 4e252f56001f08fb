// What hz4 sees of misuse.
#include "unit/hz4/line_under_test.h"

namespace hakozuna::hz4 {
namespace {

TEST_F(Hz4Test, ABlockThatWasFreedLastIsNotFreedAgain) {
  for (const size_t bytes : {64, 2048, 12000, 50000}) {
    void* const block = Hz4::allocate(bytes);
    Hz4::deallocate(block);
    EXPECT_EQ(verdict(block), Verdict::kFreed);
    Hz4::deallocate(block);
    EXPECT_EQ(new_misuses(), 1u) << bytes;
    void* const first = Hz4::allocate(bytes);
    void* const second = Hz4::allocate(bytes);
    EXPECT_NE(first, second) << "it was not handed out twice";
    Hz4::deallocate(first);
    Hz4::deallocate(second);
  }
}

TEST_F(Hz4Test, PointersIntoOurOwnMemoryAreReported) {
  Hz4::deallocate(mem::primary_base);
  Hz4::deallocate(mem::primary_base + mem::primary_bytes - 16);
  EXPECT_EQ(new_misuses(), 2u);
  char* const block = static_cast<char*>(Hz4::allocate(100000));
  EXPECT_EQ(verdict(block + 16), Verdict::kInterior);
  EXPECT_EQ(verdict(block + 17), Verdict::kMisaligned);
  const Span* const span = find_span(block);
  EXPECT_EQ(verdict(span->run), Verdict::kTailSlack);
  Hz4::deallocate(block + 16);
  Hz4::deallocate(span->run);
  EXPECT_EQ(new_misuses(), 2u) << "the slow path looks at where a block begins";
  EXPECT_EQ(verdict(block), Verdict::kValid);
  Hz4::deallocate(block);
}

TEST_F(Hz4Test, AnInteriorPointerIsReportedOnItsWayHome) {
  char* const block = static_cast<char*>(Hz4::allocate(640));
  char* const other = static_cast<char*>(Hz4::allocate(640));  // leaves room in a bin that was filled to its capacity
  Hz4::deallocate(block + 32);
  EXPECT_EQ(new_misuses(), 0u) << "the bin takes it";
  Hz4::thread_flush();
  EXPECT_EQ(new_misuses(), 1u) << "the span does not";
  Hz4::deallocate(other);
  Hz4::deallocate(block);
  Hz4::thread_flush();
  EXPECT_EQ(new_misuses(), 0u);
}

TEST_F(Hz4Test, WhatIsNotHandedOutIsFreed) {
  char* const block = static_cast<char*>(Hz4::allocate(100000));
  const Span* const span = find_span(block);
  char* const beyond = span->run + kSizeClasses[span->size_class()].first_slot + span->carved * mem::slot_bytes_of(span->size_class());
  if (span->carved < kSizeClasses[span->size_class()].slot_count) {
    EXPECT_EQ(verdict(beyond), Verdict::kFreed);
  }
  Hz4::deallocate(block);
}

}  // namespace
}  // namespace hakozuna::hz4
