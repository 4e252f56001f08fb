// A thread that has freed blocks of another may have them itself, before it takes new memory.
#include <cstring>

#include "support/pattern.h"
#include "unit/hz8/line_under_test.h"
#include "unit/os/resident_pages.h"

namespace hakozuna::hz8 {
namespace {

class PendingSlotTest : public Hz8Test, public testing::WithParamInterface<size_t> {};

TEST_P(PendingSlotTest, IsHandedOutByWhoFreedIt) {
  Worker owner;
  Worker other;
  other.heap();  // only a thread that allocates remembers
  const std::vector<char*> blocks = blocks_in_one_span(owner, GetParam(), 3);
  Span* const span = find_span(blocks[0]);
  other.deallocate(blocks[1]);
  ASSERT_EQ(pending_slots(span), 1u);
  const uint64_t spans = statistics().spans;
  char* const block = static_cast<char*>(other.allocate(GetParam()));
  EXPECT_EQ(block, blocks[1]);
  EXPECT_EQ(statistics().spans, spans);
  EXPECT_EQ(span->owner, owner.heap()) << "the span stays where it is";
  EXPECT_EQ(verdict(block), Verdict::kValid);
  EXPECT_EQ(pending_slots(span), 0u);

  // The owner, told before, finds nothing, and its slot in use.
  test::fill_pattern(block, GetParam(), 1);
  owner.run([] { collect_queue(thread_heap, UINT32_MAX); });
  EXPECT_EQ(verdict(block), Verdict::kValid);
  EXPECT_TRUE(test::has_pattern(block, GetParam(), 1));

  other.deallocate(block);
  EXPECT_EQ(new_misuses(), 0u);
  other.deallocate(block);
  EXPECT_EQ(new_misuses(), 1u) << "pending again";
  owner.deallocate(blocks[0]);
  owner.deallocate(blocks[2]);
  other.run([] { deliver_held(thread_heap); });
  owner.run([] { Hz8::thread_flush(); });
  EXPECT_EQ(find_span(block), nullptr);
}

TEST_P(PendingSlotTest, HoldsMemoryAgainAfterItsPagesWereReturned) {
  if (GetParam() < os::page_bytes() / 16) GTEST_SKIP() << "the block that stays keeps the only page";
  Worker owner;
  Worker other;
  other.heap();  // only a thread that allocates remembers
  const std::vector<char*> blocks = owner.allocate(GetParam(), 40);
  for (char* block : blocks) std::memset(block, 1, GetParam());
  for (size_t i = 1; i < blocks.size(); ++i) other.deallocate(blocks[i]);
  other.run([] { deliver_held(thread_heap); });
  EXPECT_GT(HeapKind::serve_sleeping(owner.heap()), 0u);
  expect_identity();
  std::vector<char*> again;
  other.run([&] {
    for (size_t i = 1; i < blocks.size(); ++i) {
      again.push_back(static_cast<char*>(Hz8::allocate_zeroed(GetParam())));
      EXPECT_TRUE(test::is_zero(again.back(), GetParam()));
      test::fill_pattern(again.back(), GetParam(), i);
    }
  });
  expect_identity();
  EXPECT_EQ(HeapKind::serve_sleeping(owner.heap()), 0u) << "they are in use";
  for (size_t i = 1; i < blocks.size(); ++i) EXPECT_TRUE(test::has_pattern(again[i - 1], GetParam(), i));
  for (char* block : again) other.deallocate(block);
  owner.deallocate(blocks[0]);
  owner.run([] { Hz8::thread_flush(); });
  expect_identity();
}

TEST_P(PendingSlotTest, ThreadsThatPassBlocksAroundDoNotShareOne) {
  Worker owner;
  constexpr int kThreads = 3;
  std::vector<char*> inbox[kThreads];
  std::mutex mutexes[kThreads];
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (uint64_t i = 0; i < 4000; ++i) {
        auto* const block = static_cast<char*>(Hz8::allocate(GetParam()));
        // Whose it is, at both ends: two owners would overwrite each other.
        const uint64_t mark = i * kThreads + static_cast<uint64_t>(t);
        std::memcpy(block, &mark, 8);
        std::memcpy(block + GetParam() - 8, &mark, 8);
        {
          const std::lock_guard lock(mutexes[(t + 1) % kThreads]);
          inbox[(t + 1) % kThreads].push_back(block);
        }
        if (i % 16 != 0) continue;
        std::vector<char*> mine;
        {
          const std::lock_guard lock(mutexes[t]);
          mine.swap(inbox[t]);
        }
        for (char* one : mine) {
          wrong += std::memcmp(one, one + GetParam() - 8, 8) != 0;
          free_and_deliver(one);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<char*>& rest : inbox) {
    for (char* block : rest) free_and_deliver(block);
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(new_misuses(), 0u);
  Hz8::trim(0);
  EXPECT_EQ(statistics().live, 0u);
}

INSTANTIATE_TEST_SUITE_P(Sizes, PendingSlotTest, testing::Values(2048, 12000, 40960), testing::PrintToStringParamName());

}  // namespace
}  // namespace hakozuna::hz8
