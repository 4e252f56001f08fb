// Bins: how they grow, what they hand on, and what bounds them.
#include <algorithm>

#include "support/pattern.h"
#include "support/random.h"
#include "unit/hz10/line_under_test.h"

namespace hakozuna::hz10 {
namespace {

TEST_F(Hz10Test, TheLatestBlockIsUsedFirst) {
  char* const first = allocate(64);
  char* const second = allocate(64);
  Hz10::deallocate(first);
  Hz10::deallocate(second);
  EXPECT_EQ(allocate(64), second);
  EXPECT_EQ(allocate(64), first);
  deallocate({first, second});
}

TEST_F(Hz10Test, ABinGrowsToItsLargestCapacityAndNoFurther) {
  for (const size_t bytes : {16, 64, 1000, 4096, 5000, 30000, 200000}) {
    const uint32_t c = mem::class_of(bytes);
    const std::vector<char*> blocks = allocate(bytes, 3 * kLargestCapacities[c] + 3);
    deallocate(blocks);
    EXPECT_LE(capacity_of(thread_heap, c), kLargestCapacities[c]);
    EXPECT_LE(in_bin(bytes), capacity_of(thread_heap, c));
    EXPECT_GE(in_bin(bytes), capacity_of(thread_heap, c) / 2);
    expect_identity();
  }
  EXPECT_LE(thread_heap->arrays_used, kArrayEntries);
}

TEST_F(Hz10Test, AllBinsTogetherFitTheArrays) {
  for (uint32_t c = 0; c < mem::kClassCount; ++c) {
    const size_t bytes = mem::slot_bytes_of(c);
    deallocate(allocate(bytes, 2 * kLargestCapacities[c] + 1));
  }
  EXPECT_LE(thread_heap->arrays_used, kArrayEntries);
  EXPECT_LE(thread_heap->medium_bytes, kMediumBytes);
  size_t medium = 0;
  for (uint32_t c = mem::kSmallClassCount; c < mem::kClassCount; ++c) {
    medium += size_t{capacity_of(thread_heap, c)} * mem::slot_bytes_of(c);
  }
  EXPECT_EQ(thread_heap->medium_bytes, medium);
}

TEST_F(Hz10Test, TheFirstBlocksOfAThreadAreFew) {
  on_new_thread([] {
    Hz10::deallocate(Hz10::allocate(48));
    EXPECT_LE(in_bin(48), 3u);
    Hz10::deallocate(Hz10::allocate(20000));
    EXPECT_LE(in_bin(20000), 2u);
  });
}

TEST_F(Hz10Test, RemoteFreesGoToTheBinOfWhoFrees) {
  Worker other;
  const std::vector<char*> blocks = other.allocate(2000, 8);
  for (char* block : blocks) Hz10::deallocate(block);
  std::vector<char*> again = allocate(2000, 8);
  std::vector<char*> sorted = blocks;
  std::sort(sorted.begin(), sorted.end());
  std::sort(again.begin(), again.end());
  EXPECT_EQ(again, sorted) << "warm memory of others before any other";
  deallocate(again);
}

TEST_F(Hz10Test, WhatOneThreadSpillsTheNextOneGets) {
  Worker first;
  Worker second;
  std::vector<char*> blocks = first.allocate(256, 1000);
  const uint64_t spans = statistics().spans;
  for (int round = 0; round < 20; ++round) {
    first.deallocate(blocks);
    second.deallocate(second.allocate(256, 1000));
    blocks = first.allocate(256, 1000);
  }
  // What stays in their bins is not in the spans.
  EXPECT_LE(statistics().spans, spans + 2 * kSmallBinBytes / mem::kChunkBytes + 1);
  first.deallocate(blocks);
}

TEST_F(Hz10Test, AHeapWithoutItsArraysWorksWithSmallBins) {
  Heap* const heap = thread_heap;
  Hz10::thread_flush();
  void** const arrays = heap->arrays;
  reset_bins(heap);
  heap->arrays = nullptr;
  const std::vector<char*> blocks = allocate(64, 100);
  deallocate(blocks);
  EXPECT_LE(in_bin(64), kFirstCapacity);
  empty_bins(heap);
  heap->arrays = arrays;
  reset_bins(heap);
  expect_identity();
}

TEST_F(Hz10Test, AFlushEmptiesAllBins) {
  for (uint32_t c = 0; c < mem::kClassCount; ++c) Hz10::deallocate(allocate(mem::slot_bytes_of(c)));
  Hz10::thread_flush();
  for (uint32_t c = 0; c < mem::kClassCount; ++c) {
    EXPECT_EQ(count_of(thread_heap, c), 0u);
    EXPECT_EQ(capacity_of(thread_heap, c), 0u);
  }
  EXPECT_EQ(thread_heap->medium_bytes, 0u);
}

TEST_F(Hz10Test, TicksEmptyTheBinsByAndBy) {
  deallocate(allocate(64, 400));
  uint32_t before = in_bin(64);
  ASSERT_GT(before, 100u);
  thread_heap->quiet_ticks = 0;
  int ticks = 0;
  for (; HeapKind::tick(thread_heap); ++ticks) {
    EXPECT_LE(in_bin(64), before / 2);
    before = in_bin(64);
  }
  EXPECT_EQ(in_bin(64), 0u);
  EXPECT_LE(ticks, 12);
}

// A tick inside of a refill or a spill must not take what it is about to use.
TEST_F(Hz10Test, TicksInTheMiddleOfEverything) {
  set_purge_delay(0);
  test::Random random(3);
  std::vector<std::pair<char*, size_t>> blocks;
  for (int i = 0; i < 30000; ++i) {
    if (random.one_in(2) && blocks.size() < 500) {
      const size_t bytes = random.size_between(1, 70000);
      char* const block = allocate(bytes);
      ASSERT_NE(block, nullptr);
      test::fill_sparse(block, bytes, bytes);
      blocks.emplace_back(block, bytes);
    } else if (!blocks.empty()) {
      auto& one = blocks[random.below(blocks.size())];
      ASSERT_TRUE(test::has_sparse(one.first, one.second, one.second));
      Hz10::deallocate(one.first);
      one = blocks.back();
      blocks.pop_back();
    }
    if (i % 7 == 0) thread_heap->events = UINT32_MAX / 2;  // look at the clock at the next spill
    if (i % 5 == 0) thread_heap->tick_due = 1;
  }
  for (const auto& one : blocks) Hz10::deallocate(one.first);
  EXPECT_EQ(new_misuses(), 0u);
}

}  // namespace
}  // namespace hakozuna::hz10
