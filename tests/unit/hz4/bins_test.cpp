// What a thread keeps to itself: bins, reserves, and the blocks it holds.
#include <cstring>
#include <set>

#include "support/pattern.h"
#include "unit/hz4/line_under_test.h"
#include "unit/os/resident_pages.h"

namespace hakozuna::hz4 {
namespace {

constexpr size_t kSizes[] = {16, 64, 1000, 2048, 4096, 5000, 12000, 40000, 65536, 100000, 300000, 524288};

TEST_F(Hz4Test, ABlockIsReusedByWhoFreedItLast) {
  for (const size_t bytes : kSizes) {
    void* const block = Hz4::allocate(bytes);
    Hz4::deallocate(block);
    EXPECT_EQ(Hz4::allocate(bytes), block) << bytes;
    Hz4::deallocate(block);
  }
}

TEST_F(Hz4Test, AForeignBlockIsReusedByTheThreadThatFreedIt) {
  Worker owner;
  for (const size_t bytes : kSizes) {
    char* const block = static_cast<char*>(owner.allocate(bytes));
    Hz4::deallocate(block);
    EXPECT_EQ(Hz4::allocate(bytes), block) << bytes << ": warm memory, whoever owns the span";
    owner.deallocate(block);
    EXPECT_EQ(owner.allocate(bytes), block) << bytes;
    owner.deallocate(block);
  }
}

TEST_F(Hz4Test, ABinAndItsReserveHoldABatchEach) {
  Worker worker;
  for (uint32_t c = 0; c < kBinnedClasses; c += 5) {
    const size_t bytes = mem::slot_bytes_of(c);
    worker.run([&] {
      Heap* const heap = own_heap();
      std::vector<void*> blocks;
      for (uint32_t i = 0; i < 4 * batch_of(c); ++i) blocks.push_back(Hz4::allocate(bytes));
      for (void* block : blocks) {
        Hz4::deallocate(block);
        ASSERT_LE(heap->rooms[bin_of(c)], bin_capacity(c));
        ASSERT_LE(blocks_in_bins(heap, c), 2 * batch_of(c));
        ASSERT_LE(heap->reserve_bytes, kMaxReserveBytes);
      }
      EXPECT_GE(blocks_on_shelf(c), batch_of(c)) << "the rest is for others";
      Hz4::thread_flush();
      EXPECT_EQ(blocks_in_bins(heap, c), 0u) << bytes;
      EXPECT_EQ(heap->reserve_bytes, 0u);
    });
  }
}

TEST_F(Hz4Test, AThreadThatOnlyFreesKeepsNoReserve) {
  Worker owner;
  Worker freer;
  const uint32_t c = mem::class_of(1024);
  const std::vector<char*> blocks = owner.allocate(1024, 10 * batch_of(c));
  freer.run([&] {
    for (char* block : blocks) Hz4::deallocate(block);
    EXPECT_EQ(thread_heap->reserves[c].first, nullptr);
    EXPECT_LE(blocks_in_bins(thread_heap, c), batch_of(c));
  });
}

TEST_F(Hz4Test, OneLargerBlockOfAClassIsHeld) {
  Worker worker;
  const uint32_t c = mem::class_of(100000);
  ASSERT_GE(c, kBinnedClasses);
  const std::vector<char*> blocks = worker.allocate(100000, 3);
  worker.run([&] {
    for (char* block : blocks) Hz4::deallocate(block);
    EXPECT_EQ(thread_heap->held[c - kBinnedClasses], reinterpret_cast<Block*>(blocks[2])) << "the last one";
    EXPECT_EQ(blocks_on_shelf(c), 2u);
  });
  EXPECT_EQ(take_held(worker.heap(), c), reinterpret_cast<Block*>(blocks[2])) << "anybody can take it";
  EXPECT_EQ(take_held(worker.heap(), c), nullptr);
  send_home_at_once(blocks[2]);
}

TEST_F(Hz4Test, BlocksOfAllClassesAreDistinctAndHoldTheirSize) {
  for (uint32_t c = 0; c < mem::kClassCount; ++c) {
    const size_t bytes = mem::slot_bytes_of(c);
    std::vector<char*> blocks;
    for (uint32_t i = 0; i < 9; ++i) {
      blocks.push_back(static_cast<char*>(Hz4::allocate(bytes)));
      ASSERT_EQ(Hz4::usable_size(blocks.back()), bytes);
      test::fill_sparse(blocks.back(), bytes, i);
    }
    for (uint32_t i = 0; i < 9; ++i) ASSERT_TRUE(test::has_sparse(blocks[i], bytes, i)) << bytes;
    for (char* block : blocks) Hz4::deallocate(block);
  }
}

TEST_F(Hz4Test, EveryAlignmentHasAClassThatKeepsIt) {
  for (size_t alignment = 32; alignment <= mem::kMaxSlotBytes; alignment *= 2) {
    for (const size_t bytes : {size_t{1}, size_t{100}, size_t{5000}, size_t{20000}, size_t{70000}}) {
      std::vector<void*> blocks;
      for (int i = 0; i < 5; ++i) {
        blocks.push_back(Hz4::allocate_aligned(alignment, bytes));
        ASSERT_TRUE(is_aligned(reinterpret_cast<uintptr_t>(blocks.back()), alignment)) << alignment << ' ' << bytes;
        ASSERT_GE(Hz4::usable_size(blocks.back()), bytes);
      }
      for (void* block : blocks) Hz4::deallocate(block);
    }
  }
}

// The end of a block is on the page on which the next one begins.
TEST_F(Hz4Test, LargerBlocksShareTheirLastPage) {
  const size_t page = os::page_bytes();
  for (uint32_t c = mem::class_of(20000); c < mem::class_of(65536); ++c) {
    if (!kSizeClasses[c].is_shifted()) continue;
    const uintptr_t first = kSizeClasses[c].first_slot;
    const uintptr_t second = first + mem::slot_bytes_of(c);
    EXPECT_EQ((second - 1) / page, second / page) << mem::slot_bytes_of(c);
    EXPECT_TRUE(is_aligned(first, mem::kShift));
  }
}

TEST_F(Hz4Test, FreshMemoryIsNotCleared) {
  constexpr size_t kBytes = 300000;
  Worker worker;  // whose first block of the class it is
  char* block = nullptr;
  worker.run([&] { block = static_cast<char*>(Hz4::allocate_zeroed(kBytes)); });
  EXPECT_EQ(test::resident_pages_within(block, kBytes), 0u);
  EXPECT_TRUE(test::is_zero(block, kBytes));
  std::memset(block, 0xff, kBytes);
  worker.deallocate(block);
  worker.run([&] { block = static_cast<char*>(Hz4::allocate_zeroed(kBytes)); });
  EXPECT_TRUE(test::is_zero(block, Hz4::usable_size(block))) << "used memory is";
  worker.deallocate(block);
}

}  // namespace
}  // namespace hakozuna::hz4
