// Frees by threads that do not own the block.
#include "hz8/remote.h"

#include <cstring>

#include "support/pattern.h"
#include "unit/hz8/line_under_test.h"
#include "unit/os/resident_pages.h"

namespace hakozuna::hz8 {
namespace {

// Sizes whose spans have one word of slots, many, and few large slots.
constexpr size_t kManyWords = 64;
constexpr size_t kOneWord = 2048;
constexpr size_t kMedium = 12000;

class RemoteTest : public Hz8Test, public testing::WithParamInterface<size_t> {};

TEST_P(RemoteTest, TheFirstFreeOfASpanPutsItOnItsOwnersQueue) {
  Worker owner;
  const std::vector<char*> blocks = blocks_in_one_span(owner, GetParam(), 4);
  Span* const span = find_span(blocks[0]);
  Heap* const heap = owner.heap();
  ASSERT_EQ(span->owner, heap);
  ASSERT_EQ(span->has_one_word(), GetParam() != kManyWords);

  free_and_deliver(blocks[0]);
  EXPECT_EQ(heap->queue, span);
  EXPECT_EQ(heap->fast_limit, 0u) << "the owner looks at its next allocation";
  EXPECT_EQ(pending_slots(span), 1u);
  EXPECT_EQ(verdict(blocks[0]), Verdict::kFreed);
  free_and_deliver(blocks[2]);
  EXPECT_EQ(queue_length(heap), 1u) << "once";
  EXPECT_EQ(pending_slots(span), 2u);

  const uint64_t collected = heap->remote_frees;
  const uint32_t free_before = free_slots(span);
  owner.run([&] { collect_queue(heap, UINT32_MAX); });
  EXPECT_EQ(heap->queue, nullptr);
  EXPECT_EQ(pending_slots(span), 0u);
  EXPECT_EQ(free_slots(span), free_before + 2);
  EXPECT_EQ(heap->remote_frees, collected + 2);
  EXPECT_EQ(verdict(blocks[0]), Verdict::kFreed);
  EXPECT_EQ(verdict(blocks[1]), Verdict::kValid);

  free_and_deliver(blocks[1]);
  EXPECT_EQ(heap->queue, span) << "the next token";
  owner.deallocate(blocks[3]);
}

TEST_P(RemoteTest, DoubleFreesAreReportedOnceEach) {
  Worker owner;
  Worker other;
  const std::vector<char*> blocks = blocks_in_one_span(owner, GetParam(), 4);
  Heap* const heap = owner.heap();

  owner.deallocate(blocks[0]);
  EXPECT_EQ(new_misuses(), 0u);
  owner.deallocate(blocks[0]);
  EXPECT_EQ(new_misuses(), 1u) << "twice by the owner";
  free_and_deliver(blocks[0]);
  EXPECT_EQ(new_misuses(), 1u) << "by the owner, then by another";

  free_and_deliver(blocks[1]);
  EXPECT_EQ(new_misuses(), 0u);
  free_and_deliver(blocks[1]);
  other.deallocate(blocks[1]);
  EXPECT_EQ(new_misuses(), 2u) << "twice by others";
  owner.deallocate(blocks[1]);
  EXPECT_EQ(new_misuses(), 1u) << "by another, then by the owner";

  owner.run([&] { collect_queue(heap, UINT32_MAX); });
  free_and_deliver(blocks[1]);
  owner.deallocate(blocks[1]);
  EXPECT_EQ(new_misuses(), 2u) << "after it was collected";
  EXPECT_EQ(heap->queue, nullptr);

  owner.deallocate(blocks[2]);
  free_and_deliver(blocks[3]);
  owner.run([&] { Hz8::thread_flush(); });
  free_and_deliver(blocks[3]);
  owner.deallocate(blocks[2]);
  EXPECT_EQ(new_misuses(), 2u) << "after the span was given back";
}

TEST_P(RemoteTest, OfThreadsThatFreeTheSameBlockOneSucceeds) {
  Worker owner;
  for (int round = 0; round < 300; ++round) {
    char* const block = static_cast<char*>(owner.allocate(GetParam()));
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) threads.emplace_back([block] { free_and_deliver(block); });
    for (std::thread& thread : threads) thread.join();
    ASSERT_EQ(new_misuses(), 2u);
    ASSERT_EQ(verdict(block), Verdict::kFreed);
  }
}

TEST_P(RemoteTest, ASpanEmptiedByOthersIsGivenBack) {
  Worker owner;
  const std::vector<char*> blocks = blocks_in_one_span(owner, GetParam(), 4);
  Span* const span = find_span(blocks[0]);
  for (char* block : blocks) free_and_deliver(block);
  EXPECT_EQ(find_span(blocks[0]), span) << "until its owner has seen it";
  owner.run([] { Hz8::thread_flush(); });
  EXPECT_EQ(find_span(blocks[0]), nullptr);
  EXPECT_EQ(span->state, SpanState::kNone);
  EXPECT_EQ(span->owner, nullptr);
}

TEST_P(RemoteTest, WhatOthersFreedIsHandedOutBeforeMoreIsMapped) {
  Worker owner;
  std::vector<char*> blocks = owner.allocate(GetParam(), 2000);
  const hakozuna_statistics before = statistics();
  for (int round = 0; round < 5; ++round) {
    for (char* block : blocks) free_and_deliver(block);
    blocks = owner.allocate(GetParam(), 2000);
  }
  // A few spans more may be in use: a refill collects sixteen at a time.
  EXPECT_LE(statistics().spans, before.spans + before.spans / 8 + 2);
  EXPECT_EQ(statistics().live, before.live);
  for (char* block : blocks) owner.deallocate(block);
}

TEST_P(RemoteTest, ProducersAndConsumersLoseNothing) {
  const int rounds = 30;
  for (int round = 0; round < rounds; ++round) {
    Worker owner;
    const std::vector<char*> blocks = owner.allocate(GetParam(), 400);
    for (size_t i = 0; i < blocks.size(); ++i) test::fill_sparse(blocks[i], GetParam(), i);
    std::atomic<bool> wrong{false};
    std::vector<std::thread> threads;
    for (size_t t = 0; t < 3; ++t) {
      threads.emplace_back([&, t] {
        for (size_t i = t; i < blocks.size(); i += 3) {
          if (!test::has_sparse(blocks[i], GetParam(), i)) wrong = true;
          free_and_deliver(blocks[i]);
        }
      });
    }
    // Meanwhile the owner allocates and frees of its own.
    owner.run([&] {
      std::vector<void*> own;
      for (int i = 0; i < 500; ++i) {
        own.push_back(Hz8::allocate(GetParam()));
        std::memset(own.back(), 0x5a, GetParam());
        if (i % 3 != 0) {
          free_and_deliver(own[own.size() / 2]);
          own.erase(own.begin() + static_cast<std::ptrdiff_t>(own.size() / 2));
        }
      }
      for (void* block : own) free_and_deliver(block);
    });
    for (std::thread& thread : threads) thread.join();
    owner.run([] { Hz8::thread_flush(); });
    ASSERT_FALSE(wrong);
    for (const char* block : blocks) ASSERT_NE(verdict(block), Verdict::kValid);
  }
  EXPECT_EQ(new_misuses(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Sizes, RemoteTest, testing::Values(kManyWords, kOneWord, kMedium),
                         testing::PrintToStringParamName());

TEST_F(Hz8Test, AQueueHoldsEachSpanOnceInAChain) {
  Worker owner;
  std::vector<char*> blocks;
  for (const size_t bytes : {64, 2048, 12000, 40000}) {
    for (char* block : owner.allocate(bytes, 2)) blocks.push_back(block);
  }
  for (char* block : blocks) free_and_deliver(block);
  Heap* const heap = owner.heap();
  EXPECT_EQ(queue_length(heap), 4u);
  owner.run([&] { collect_queue(heap, 1); });
  EXPECT_NE(heap->carried, nullptr) << "the rest is kept for later";
  EXPECT_TRUE(has_queued(heap));
  owner.run([&] { collect_queue(heap, UINT32_MAX); });
  EXPECT_FALSE(has_queued(heap));
}

TEST_F(Hz8Test, PendingPagesOfASleeperAreReturnedByOthers) {
  if (os::page_bytes() > 16384) GTEST_SKIP() << "every page holds a block that stays";
  const size_t page = os::page_bytes();
  Worker owner;
  constexpr size_t kBlocks = 200;
  constexpr size_t kBytes = 1024;
  const std::vector<char*> blocks = owner.allocate(kBytes, kBlocks);
  for (size_t i = 0; i < kBlocks; ++i) test::fill_pattern(blocks[i], kBytes, i);
  // One in fifty stays.
  std::vector<size_t> kept;
  for (size_t i = 0; i < kBlocks; ++i) {
    if (i % 50 == 49) {
      kept.push_back(i);
    } else {
      free_and_deliver(blocks[i]);
    }
  }
  Heap* const heap = owner.heap();
  const size_t spans = queue_length(heap);
  EXPECT_GE(spans, 2u);
  const size_t returned = HeapKind::serve_sleeping(heap);
  EXPECT_GE(returned, (kBlocks - kept.size()) * kBytes * 3 / 4 / page * page);
  EXPECT_EQ(queue_length(heap), spans) << "the tokens are back";
  for (const size_t i : kept) EXPECT_TRUE(test::has_pattern(blocks[i], kBytes, i));
  EXPECT_EQ(test::resident_pages(reinterpret_cast<char*>(align_up(reinterpret_cast<uintptr_t>(blocks[5]), page)), page), 0u);
  expect_identity();
  EXPECT_EQ(HeapKind::serve_sleeping(heap), 0u) << "nothing is left to return";

  // The sleeper wakes up: what it gets is its own again and can be written to.
  owner.run([&] {
    collect_queue(heap, UINT32_MAX);
    std::vector<char*> again;
    for (size_t i = 0; i < kBlocks; ++i) {
      again.push_back(static_cast<char*>(Hz8::allocate_zeroed(kBytes)));
      EXPECT_TRUE(test::is_zero(again.back(), kBytes));
      test::fill_pattern(again.back(), kBytes, 1000 + i);
    }
    for (size_t i = 0; i < kBlocks; ++i) {
      EXPECT_TRUE(test::has_pattern(again[i], kBytes, 1000 + i));
      free_and_deliver(again[i]);
    }
  });
  for (const size_t i : kept) EXPECT_TRUE(test::has_pattern(blocks[i], kBytes, i));
  expect_identity();
  for (const size_t i : kept) owner.deallocate(blocks[i]);
}

TEST_F(Hz8Test, ASleepersPagesAreReturnedByWhoComesByLater) {
  set_purge_delay(40);
  Worker owner;
  const std::vector<char*> blocks = owner.allocate(4096, 200);
  for (char* block : blocks) std::memset(block, 1, 4096);
  for (size_t i = 1; i < blocks.size(); ++i) free_and_deliver(blocks[i]);
  // This thread goes on allocating, now and then.
  const auto begin = std::chrono::steady_clock::now();
  size_t resident = SIZE_MAX;
  while (resident > 40 && std::chrono::steady_clock::now() - begin < std::chrono::seconds(20)) {
    free_and_deliver(Hz8::allocate(100));
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    resident = 0;
    for (char* block : blocks) resident += test::resident_pages(align_up(block, os::page_bytes()), os::page_bytes());
  }
  EXPECT_LE(resident, 40u);
  owner.deallocate(blocks[0]);
}

TEST_F(Hz8Test, PurgersAndFreersAndTheOwnerAtOnce) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(1500);
  Worker owner;
  Heap* const heap = owner.heap();
  std::mutex mutex;
  std::vector<std::pair<char*, uint64_t>> handed_over;
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  constexpr size_t kSizes[] = {48, 1500, 9000, 30000};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      for (;;) {
        std::pair<char*, uint64_t> one{};
        const bool was_last_round = stop;  // before looking: what is handed over after that is looked at once more
        {
          const std::lock_guard lock(mutex);
          if (!handed_over.empty()) {
            one = handed_over.back();
            handed_over.pop_back();
          }
        }
        if (one.first) {
          wrong += !test::has_sparse(one.first, kSizes[one.second % 4], one.second);
          free_and_deliver(one.first);
        } else if (was_last_round) {
          return;
        }
      }
    });
  }
  threads.emplace_back([&] {
    while (!stop) {
      HeapKind::serve_sleeping(heap);
      std::this_thread::yield();
    }
  });
  owner.run([&] {
    std::vector<char*> own;
    for (uint64_t seed = 0; std::chrono::steady_clock::now() < until; ++seed) {
      const size_t bytes = kSizes[seed % 4];
      const bool zeroed = seed % 8 < 4;
      auto* const block = static_cast<char*>(zeroed ? Hz8::allocate_zeroed(bytes) : Hz8::allocate(bytes));
      wrong += zeroed && !test::is_zero(block, bytes);
      test::fill_sparse(block, bytes, seed);
      const std::lock_guard lock(mutex);
      handed_over.emplace_back(block, seed);
      if (handed_over.size() > 500) {
        wrong += !test::has_sparse(handed_over[7].first, kSizes[handed_over[7].second % 4], handed_over[7].second);
        free_and_deliver(handed_over[7].first);
        handed_over.erase(handed_over.begin() + 7);
      }
    }
  });
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(new_misuses(), 0u);
  owner.run([] { Hz8::thread_flush(); });
  expect_identity();
}

}  // namespace
}  // namespace hakozuna::hz8
