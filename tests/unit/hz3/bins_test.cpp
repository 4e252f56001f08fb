// Bins and spans: how blocks come into a bin, how many may be in it, and how they get back into their spans.
#include <algorithm>
#include <cstring>
#include <set>

#include "support/pattern.h"
#include "unit/hz3/line_under_test.h"

namespace hakozuna::hz3 {
namespace {

class BinsTest : public Hz3Test, public testing::WithParamInterface<size_t> {
 protected:
  static std::vector<char*> allocate(size_t count) {
    std::vector<char*> blocks(count);
    for (char*& block : blocks) block = static_cast<char*>(Hz3::allocate(GetParam()));
    return blocks;
  }
};

TEST_P(BinsTest, BlocksAreDistinctAndReturnInReverseOrder) {
  std::vector<char*> blocks = allocate(300);
  for (size_t i = 0; i < blocks.size(); ++i) test::fill_sparse(blocks[i], GetParam(), i);
  EXPECT_EQ(std::set<char*>(blocks.begin(), blocks.end()).size(), blocks.size());
  for (size_t i = 0; i < blocks.size(); ++i) {
    ASSERT_TRUE(test::has_sparse(blocks[i], GetParam(), i));
    ASSERT_EQ(verdict(blocks[i]), Verdict::kValid);
  }
  Hz3::deallocate(blocks[17]);
  EXPECT_EQ(Hz3::allocate(GetParam()), blocks[17]);
  for (char* block : blocks) Hz3::deallocate(block);
}

TEST_P(BinsTest, ABinIsBoundedAndTheRestGoesBack) {
  std::vector<char*> blocks = allocate(1000);
  Hz3::thread_flush();
  for (char* block : blocks) Hz3::deallocate(block);
  const Bin& bin = thread_heap->bin(mem::class_of(GetParam()));
  EXPECT_LE(bin.count(), static_cast<uint32_t>(bin.bound));
  EXPECT_GE(bin.room, 0);
  EXPECT_EQ(chain_length(bin.head), bin.count());
  // Spans that are empty are no spans any more, but for those the bin's blocks are in.
  std::set<const Span*> held;
  for (void* block = bin.head; block; block = next_of(block)) held.insert(find_span(block));
  for (char* block : blocks) {
    const Span* const span = find_span(block);
    EXPECT_TRUE(!span || held.count(span) == 1);
  }
  expect_identity();
  EXPECT_EQ(new_misuses(), 0u);
}

TEST_P(BinsTest, BoundsFollowWhatIsAllocated) {
  Heap* const heap = thread_heap;
  Hz3::thread_flush();
  Bin& bin = heap->bin(mem::class_of(GetParam()));
  const int32_t first = bin.bound;
  EXPECT_EQ(first, static_cast<int32_t>(first_bound(mem::class_of(GetParam()))));
  for (int round = 0; round < 20; ++round) {
    for (char* block : allocate(2000)) Hz3::deallocate(block);
  }
  EXPECT_GE(bin.bound, first);
  EXPECT_LE(static_cast<size_t>(bin.bound) * GetParam(), size_t{256} << 10);
  EXPECT_LE(heap->growth, size_t{1} << 20);
  Hz3::thread_flush();
  EXPECT_EQ(bin.bound, first);
  EXPECT_EQ(bin.head, nullptr);
}

TEST_P(BinsTest, AFlushLeavesNothingOut) {
  const uint64_t live = statistics().live;
  const uint64_t spans = statistics().spans;
  std::vector<char*> blocks = allocate(700);
  for (char* block : blocks) Hz3::deallocate(block);
  EXPECT_EQ(statistics().live, live);
  Hz3::thread_flush();
  EXPECT_LE(statistics().spans, spans);
  for (char* block : blocks) EXPECT_NE(verdict(block), Verdict::kValid);
}

TEST_P(BinsTest, ADoubleFreeIsFoundWhenTheBlocksAreSorted) {
  std::vector<char*> blocks = allocate(3);
  Hz3::deallocate(blocks[1]);
  EXPECT_EQ(verdict(blocks[1]), Verdict::kFreed) << "on top of the bin";
  Hz3::deallocate(blocks[0]);
  Hz3::deallocate(blocks[1]);
  Hz3::thread_flush();
  EXPECT_EQ(new_misuses(), 1u);
  EXPECT_EQ(verdict(blocks[2]), Verdict::kValid);
  expect_identity();
  // The heap is whole: nothing is handed out twice.
  std::vector<char*> more = allocate(500);
  EXPECT_EQ(std::set<char*>(more.begin(), more.end()).size(), more.size());
  EXPECT_EQ(std::count(more.begin(), more.end(), blocks[2]), 0);
  for (char* block : more) Hz3::deallocate(block);
  Hz3::deallocate(blocks[2]);
  Hz3::thread_flush();
  EXPECT_EQ(new_misuses(), 0u);
}

TEST_P(BinsTest, AnInteriorPointerIsFoundWhenTheBlocksAreSorted) {
  std::vector<char*> blocks = allocate(3);
  std::memset(blocks[1], 0, GetParam());
  Hz3::deallocate(blocks[1] + 16);
  Hz3::thread_flush();
  EXPECT_EQ(new_misuses(), 1u);
  for (char* block : blocks) Hz3::deallocate(block);
  Hz3::thread_flush();
  EXPECT_EQ(new_misuses(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Sizes, BinsTest, testing::Values(64, 1000, 2048, 12000, 65536), testing::PrintToStringParamName());

TEST_F(Hz3Test, BlocksBeyondTheFastPathHaveNoBin) {
  constexpr size_t kBytes = kFastLimit + 1;
  void* const block = Hz3::allocate(kBytes);
  void* const other = Hz3::allocate(kBytes);
  Span* const span = find_span(block);
  const uint32_t out = blocks_out(span);
  Hz3::deallocate(block);
  EXPECT_EQ(bin_count(thread_heap, kBytes), 0u);
  EXPECT_EQ(blocks_out(span), out - 1);
  EXPECT_EQ(verdict(block), Verdict::kFreed);
  EXPECT_EQ(Hz3::allocate(kBytes), block) << "the lowest first";
  Hz3::deallocate(block);
  Hz3::deallocate(other);
  EXPECT_EQ(find_span(block), nullptr);
}

TEST_F(Hz3Test, BlocksAreTakenLowestFirstAndOfNewMemoryByThePage) {
  Worker worker;
  std::vector<char*> blocks = worker.allocate(64, 10);
  const std::vector<char*> sorted = [&] {
    std::vector<char*> copy = blocks;
    std::sort(copy.begin(), copy.end());
    return copy;
  }();
  EXPECT_EQ(blocks, sorted);
  Span* const span = find_span(blocks[0]);
  EXPECT_LE(size_t{blocks_out(span)} * 64, 2 * os::page_bytes());
  worker.run([&] {
    for (char* block : blocks) Hz3::deallocate(block);
  });
}

TEST_F(Hz3Test, TakingAndPuttingBackKeepsTheRecord) {
  Worker worker;
  char* const kept = static_cast<char*>(worker.allocate(48));
  Span* const span = find_span(kept);
  const uint32_t slots = span->geometry().slot_count;
  worker.run([&] {
    Heap* const heap = thread_heap;
    empty_caches(heap);
    std::vector<void*> blocks;
    while (span->free_count != 0) {
      const os::LockGuard guard(heap->lock);
      const Taken taken = take_blocks(span, 50);
      blocks.push_back(taken.first);
      for (void* block = taken.rest; block; block = next_of(block)) blocks.push_back(block);
      check_span(span);
    }
    EXPECT_EQ(blocks.size() + 1, slots);
    for (size_t i = 0; i < blocks.size(); ++i) {
      const os::LockGuard guard(heap->lock);
      void* const block = blocks[(i * 7919) % blocks.size()];
      EXPECT_EQ(put_block(span, block), Put::kDone);
      EXPECT_EQ(put_block(span, block), Put::kFreed);
      if (i % 64 == 0) check_span(span);
    }
    EXPECT_EQ(blocks_out(span), 1u);
    EXPECT_EQ(put_block(span, kept + 16), Put::kInterior);
    EXPECT_EQ(put_block(span, kept + 8), Put::kMisaligned);
    if (span->geometry().first_slot != 0) {
      EXPECT_EQ(put_block(span, span->run), Put::kTailSlack);
    }
  });
  worker.deallocate(kept);
}

}  // namespace
}  // namespace hakozuna::hz3
