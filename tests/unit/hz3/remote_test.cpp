// Frees by threads that do not own the block.
#include "hz3/remote.h"

#include <cstring>

#include "support/pattern.h"
#include "unit/hz3/line_under_test.h"
#include "unit/os/resident_pages.h"
#include "unit/sanitizers.h"

namespace hakozuna::hz3 {
namespace {

class RemoteTest : public Hz3Test, public testing::WithParamInterface<size_t> {
 protected:
  static void collect(Worker& owner) {
    owner.run([] { SpanAccess(thread_heap).collect(UINT32_MAX, /*into_bins=*/false); });
  }
};

TEST_P(RemoteTest, BlocksGoThroughAnOutboxToTheOwnersStash) {
  Worker owner;
  const std::vector<char*> blocks = blocks_in_one_span(owner, GetParam(), 4);
  Heap* const heap = owner.heap();
  Heap* const mine = thread_heap;
  const uint64_t live = statistics().live;
  Hz3::deallocate(blocks[0]);
  EXPECT_EQ(stash_length(heap) + (mine->outbox_bytes != 0), 1u);
  EXPECT_NE(mine->tick_due, 0u) << "what waits in an outbox is sent by the timer";
  send_all(mine);
  EXPECT_EQ(mine->outbox_bytes, 0u);
  EXPECT_EQ(stash_length(heap), 1u);
  EXPECT_EQ(heap->fast_limit, 0u) << "the owner looks at its next allocation";
  Hz3::deallocate(blocks[2]);
  send_all(mine);
  EXPECT_EQ(stash_length(heap), 2u);
  EXPECT_EQ(statistics().live, live - 2 * Hz3::usable_size(blocks[1])) << "cached blocks are not live";
  expect_identity();

  const uint64_t collected = heap->remote_frees;
  Span* const span = find_span(blocks[0]);
  const uint32_t out = blocks_out(span);
  collect(owner);
  EXPECT_EQ(heap->stash, nullptr);
  EXPECT_EQ(blocks_out(span), out - 2);
  EXPECT_EQ(heap->remote_frees, collected + 2);
  EXPECT_EQ(verdict(blocks[0]), Verdict::kFreed);
  EXPECT_EQ(verdict(blocks[1]), Verdict::kValid);
  Hz3::deallocate(blocks[1]);
  owner.deallocate(blocks[3]);
}

TEST_P(RemoteTest, AnOutboxIsBounded) {
  Worker owner;
  const std::vector<char*> blocks = owner.allocate(GetParam(), 500);
  for (char* block : blocks) {
    Hz3::deallocate(block);
    ASSERT_LE(thread_heap->outbox_bytes, size_t{16} << 10);
  }
  EXPECT_GE(stash_length(owner.heap()), blocks.size() - 64);
}

TEST_P(RemoteTest, ASpanEmptiedByOthersIsGivenBack) {
  Worker owner;
  const std::vector<char*> blocks = blocks_in_one_span(owner, GetParam(), 4);
  for (char* block : blocks) Hz3::deallocate(block);
  send_all(thread_heap);
  EXPECT_NE(find_span(blocks[0]), nullptr) << "until its owner has seen it";
  owner.run([] { Hz3::thread_flush(); });
  EXPECT_EQ(find_span(blocks[0]), nullptr);
}

TEST_P(RemoteTest, WhatOthersFreedIsHandedOutBeforeMoreIsMapped) {
  Worker owner;
  std::vector<char*> blocks = owner.allocate(GetParam(), 2000);
  const hakozuna_statistics before = statistics();
  for (int round = 0; round < 5; ++round) {
    for (char* block : blocks) Hz3::deallocate(block);
    send_all(thread_heap);
    blocks = owner.allocate(GetParam(), 2000);
  }
  EXPECT_LE(statistics().spans, before.spans + before.spans / 8 + 2);
  EXPECT_EQ(statistics().live, before.live);
  for (char* block : blocks) owner.deallocate(block);
}

TEST_P(RemoteTest, AThreadWithoutAHeapSendsAtOnce) {
  Worker owner;
  const std::vector<char*> blocks = blocks_in_one_span(owner, GetParam(), 3);
  const uint64_t threads = statistics().threads_total;
  on_new_thread([&] {
    Hz3::deallocate(blocks[0]);
    Hz3::deallocate(blocks[1]);
    EXPECT_EQ(stash_length(owner.heap()), 2u);
  });
  EXPECT_EQ(statistics().threads_total, threads) << "a thread that only frees needs no heap";
  owner.deallocate(blocks[2]);
}

TEST_P(RemoteTest, WrongPointersAreReportedByTheThreadThatFreesThem) {
  Worker owner;
  const std::vector<char*> blocks = blocks_in_one_span(owner, GetParam(), 3);
  Hz3::deallocate(blocks[0] + 16);
  EXPECT_EQ(new_misuses(), 1u) << "interior";
  Hz3::deallocate(blocks[0] + 8);
  EXPECT_EQ(new_misuses(), 1u) << "misaligned";
  owner.run([&] {
    Hz3::deallocate(blocks[0]);
    Hz3::thread_flush();
  });
  Hz3::deallocate(blocks[0]);
  send_all(thread_heap);
  EXPECT_EQ(new_misuses(), 0u);
  owner.run([] { SpanAccess(thread_heap).collect(UINT32_MAX, /*into_bins=*/true); });
  EXPECT_EQ(new_misuses(), 1u) << "in its span already, as its owner finds";
  owner.deallocate(blocks[1]);
  owner.deallocate(blocks[2]);
  EXPECT_EQ(new_misuses(), 0u);
}

TEST_P(RemoteTest, ProducersAndConsumersLoseNothing) {
  const uint64_t live = statistics().live;
  for (int round = 0; round < 30; ++round) {
    Worker owner;
    const std::vector<char*> blocks = owner.allocate(GetParam(), 400);
    for (size_t i = 0; i < blocks.size(); ++i) test::fill_sparse(blocks[i], GetParam(), i);
    std::atomic<bool> wrong{false};
    std::vector<std::thread> threads;
    for (size_t t = 0; t < 3; ++t) {
      threads.emplace_back([&, t] {
        if (t != 0) own_heap();
        for (size_t i = t; i < blocks.size(); i += 3) {
          if (!test::has_sparse(blocks[i], GetParam(), i)) wrong = true;
          Hz3::deallocate(blocks[i]);
        }
      });
    }
    // Meanwhile the owner allocates and frees of its own.
    owner.run([&] {
      std::vector<void*> own;
      for (int i = 0; i < 500; ++i) {
        own.push_back(Hz3::allocate(GetParam()));
        std::memset(own.back(), 0x5a, GetParam());
        if (i % 3 != 0) {
          Hz3::deallocate(own[own.size() / 2]);
          own.erase(own.begin() + static_cast<std::ptrdiff_t>(own.size() / 2));
        }
      }
      for (void* block : own) Hz3::deallocate(block);
    });
    for (std::thread& thread : threads) thread.join();
    owner.run([] { Hz3::thread_flush(); });
    ASSERT_FALSE(wrong);
    ASSERT_EQ(statistics().live, live);
  }
  EXPECT_EQ(new_misuses(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Sizes, RemoteTest, testing::Values(64, 2048, 12000), testing::PrintToStringParamName());

TEST_F(Hz3Test, OwnersThatShareAnOutboxSendEachOther) {
  std::vector<std::unique_ptr<Worker>> owners;
  std::vector<char*> blocks;
  for (uint32_t i = 0; i < 2 * kOutboxes + 3; ++i) {
    owners.push_back(std::make_unique<Worker>());
    blocks.push_back(static_cast<char*>(owners.back()->allocate(100)));
  }
  for (char* block : blocks) Hz3::deallocate(block);
  send_all(thread_heap);
  for (size_t i = 0; i < blocks.size(); ++i) {
    ASSERT_EQ(stash_length(owners[i]->heap()), 1u);
    EXPECT_EQ(owners[i]->heap()->stash, blocks[i]);
  }
}

TEST_F(Hz3Test, ALongStashIsCollectedInPortions) {
  Worker owner;
  constexpr size_t kBlocks = 1000;
  const std::vector<char*> blocks = owner.allocate(64, kBlocks);
  for (char* block : blocks) Hz3::deallocate(block);
  send_all(thread_heap);
  Heap* const heap = owner.heap();
  const uint64_t collected = heap->remote_frees;
  owner.run([heap] { SpanAccess(heap).collect(100, /*into_bins=*/true); });
  EXPECT_EQ(heap->remote_frees, collected + 100);
  EXPECT_EQ(chain_length(heap->carried), kBlocks - 100);
  EXPECT_TRUE(HeapKind::has_queued(heap));
  expect_identity();
  owner.run([] { Hz3::thread_flush(); });
  EXPECT_FALSE(HeapKind::has_queued(heap));
}

TEST_F(Hz3Test, ASleepersStashIsSortedByOthers) {
  Worker owner;
  constexpr size_t kBlocks = 400;
  const size_t bytes = os::page_bytes();
  const std::vector<char*> blocks = owner.allocate(bytes, kBlocks);
  for (size_t i = 0; i < kBlocks; ++i) test::fill_pattern(blocks[i], bytes, i);
  std::vector<size_t> kept;
  for (size_t i = 0; i < kBlocks; ++i) {
    if (i % 100 == 49) {
      kept.push_back(i);
    } else {
      Hz3::deallocate(blocks[i]);
    }
  }
  send_all(thread_heap);
  Heap* const heap = owner.heap();
  EXPECT_EQ(stash_length(heap), kBlocks - kept.size());
  EXPECT_GT(HeapKind::serve_sleeping(heap), 0u);
  EXPECT_EQ(stash_length(heap), 0u);
  EXPECT_FALSE(HeapKind::has_queued(heap));
  for (const size_t i : kept) EXPECT_TRUE(test::has_pattern(blocks[i], bytes, i));
  EXPECT_EQ(test::resident_pages_within(blocks[kept[0] + 1], bytes), 0u) << "in a span that stays";
  expect_identity();
  EXPECT_EQ(HeapKind::serve_sleeping(heap), 0u) << "nothing is left to return";

  // The sleeper wakes up: what it gets is its own again and can be written to.
  owner.run([&] {
    std::vector<char*> again;
    for (size_t i = 0; i < kBlocks; ++i) {
      again.push_back(static_cast<char*>(Hz3::allocate_zeroed(bytes)));
      EXPECT_TRUE(test::is_zero(again.back(), bytes));
      test::fill_pattern(again.back(), bytes, 1000 + i);
    }
    for (size_t i = 0; i < kBlocks; ++i) {
      EXPECT_TRUE(test::has_pattern(again[i], bytes, 1000 + i));
      Hz3::deallocate(again[i]);
    }
  });
  for (const size_t i : kept) {
    EXPECT_TRUE(test::has_pattern(blocks[i], bytes, i));
    owner.deallocate(blocks[i]);
  }
}

TEST_F(Hz3Test, WhoHasSentStaysArmedForAnotherTick) {
  Worker owner;
  char* const block = static_cast<char*>(owner.allocate(100));
  Hz3::thread_flush();
  Hz3::deallocate(block);
  EXPECT_TRUE(HeapKind::tick(thread_heap)) << "its owner may be asleep";
  EXPECT_EQ(stash_length(owner.heap()), 1u);
  EXPECT_FALSE(HeapKind::tick(thread_heap));
}

TEST_F(Hz3Test, ASleepersMemoryIsReturnedByWhoComesByLater) {
  set_purge_delay(40);
  Worker owner;
  const std::vector<char*> blocks = owner.allocate(4096, 200);
  for (char* block : blocks) std::memset(block, 1, 4096);
  for (size_t i = 1; i < blocks.size(); ++i) Hz3::deallocate(blocks[i]);
  // This thread goes on allocating, now and then.
  const auto begin = std::chrono::steady_clock::now();
  size_t resident = SIZE_MAX;
  while (resident > 40 && std::chrono::steady_clock::now() - begin < std::chrono::seconds(20)) {
    Hz3::deallocate(Hz3::allocate(100));
    // As any slow free would: other tests, with a longer delay, may have put off the next purge beyond the time this thread stays armed.
    count_event(thread_heap, 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    resident = 0;
    for (char* block : blocks) resident += test::resident_pages(align_up(block, os::page_bytes()), os::page_bytes());
  }
  EXPECT_LE(resident, 40u);
  owner.deallocate(blocks[0]);
}

TEST_F(Hz3Test, PurgersAndFreersAndTheOwnerAtOnce) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(1500);
  Worker owner;
  Heap* const heap = owner.heap();
  std::mutex mutex;
  std::vector<std::pair<char*, uint64_t>> handed_over;
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  constexpr size_t kSizes[] = {48, 1500, 9000, 90000};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      if (t == 0) own_heap();
      for (;;) {
        const bool last_look = stop;  // before it: nothing is handed over afterwards
        std::pair<char*, uint64_t> one{};
        {
          const std::lock_guard lock(mutex);
          if (!handed_over.empty()) {
            one = handed_over.back();
            handed_over.pop_back();
          }
        }
        if (one.first) {
          wrong += !test::has_sparse(one.first, kSizes[one.second % 4], one.second);
          Hz3::deallocate(one.first);
        } else if (last_look) {
          return;
        }
      }
    });
  }
  threads.emplace_back([&] {
    while (!stop) {
      HeapKind::serve_sleeping(heap);
      if (!test::kThreadSanitizer) (void)statistics();  // wrong figures, but no harm
      std::this_thread::yield();
    }
  });
  owner.run([&] {
    for (uint64_t seed = 0; std::chrono::steady_clock::now() < until; ++seed) {
      const size_t bytes = kSizes[seed % 4];
      const bool zeroed = seed % 8 < 4;
      auto* const block = static_cast<char*>(zeroed ? Hz3::allocate_zeroed(bytes) : Hz3::allocate(bytes));
      wrong += zeroed && !test::is_zero(block, bytes);
      test::fill_sparse(block, bytes, seed);
      const std::lock_guard lock(mutex);
      handed_over.emplace_back(block, seed);
      if (handed_over.size() > 500) {
        wrong += !test::has_sparse(handed_over[7].first, kSizes[handed_over[7].second % 4], handed_over[7].second);
        Hz3::deallocate(handed_over[7].first);
        handed_over.erase(handed_over.begin() + 7);
      }
    }
  });
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(new_misuses(), 0u);
  owner.run([] { Hz3::thread_flush(); });
  expect_identity();
}

}  // namespace
}  // namespace hakozuna::hz3
