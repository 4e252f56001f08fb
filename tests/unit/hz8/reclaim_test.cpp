// What goes back to the system, what is known to be zero, and that the figures add up.
#include "hz8/reclaim.h"

#include <cstring>

#include "support/pattern.h"
#include "support/random.h"
#include "unit/hz8/line_under_test.h"
#include "unit/os/resident_pages.h"

namespace hakozuna::hz8 {
namespace {

char* allocate(size_t bytes) { return static_cast<char*>(Hz8::allocate(bytes)); }

TEST_F(Hz8Test, MediumSlotsAreMarkedByWhatIsBehindThem) {
  if (os::page_bytes() > 16384) GTEST_SKIP() << "a page holds several slots, or parts of them";
  constexpr size_t kBytes = 65536;  // a power of two: a slot has its pages for itself
  char* const kept = allocate(kBytes);
  char* const block = allocate(kBytes);
  Span* const span = find_span(block);
  ASSERT_EQ(find_span(kept), span);
  test::fill_pattern(kept, kBytes, 1);
  test::fill_pattern(block, kBytes, 2);
  const uint64_t bit = uint64_t{1} << (static_cast<uint64_t>(block - span->first_slot) / span->slot_bytes);
  EXPECT_EQ(span->unmarked & bit, 0u);

  free_and_deliver(block);
  EXPECT_EQ(span->unmarked & bit, 0u) << "warm";
  Hz8::thread_flush();
  EXPECT_EQ(span->unmarked & bit, bit) << "its pages went back";
  EXPECT_EQ(span->fresh & bit, bit) << "all of them: it reads as zero";
  EXPECT_TRUE(test::has_pattern(kept, kBytes, 1));
  expect_identity();

  // The same slot again, zero without a write: its pages take no memory yet.
  std::vector<char*> others;
  char* again = nullptr;
  while ((again = static_cast<char*>(Hz8::allocate_zeroed(kBytes))) != block) {
    others.push_back(again);
    ASSERT_EQ(find_span(again), span);
  }
  EXPECT_EQ(test::resident_pages_within(again, kBytes), 0u);
  EXPECT_EQ((span->fresh | span->unmarked) & bit, 0u);
  EXPECT_TRUE(test::is_zero(again, kBytes));
  expect_identity();
  for (char* other : others) free_and_deliver(other);
  free_and_deliver(again);
  free_and_deliver(kept);
}

TEST_F(Hz8Test, ASlotThatSharesAPageIsNotTakenForZero) {
  // 1.25 pages of 4 KiB a slot: each shares pages with its neighbours.
  constexpr size_t kBytes = 5120;
  std::vector<char*> blocks;
  for (int i = 0; i < 12; ++i) {
    blocks.push_back(allocate(kBytes));
    test::fill_pattern(blocks.back(), kBytes, static_cast<uint64_t>(i));
  }
  for (size_t round = 0; round < 3; ++round) {
    // Every other one, then two of three.
    const auto stays = [round](size_t i) { return round == 0 ? i % 2 == 0 : i % 3 == round - 1; };
    for (size_t i = 0; i < blocks.size(); ++i) {
      if (!stays(i)) free_and_deliver(blocks[i]);
    }
    Hz8::thread_flush();
    expect_identity();
    for (size_t i = 0; i < blocks.size(); ++i) {
      if (stays(i)) {
        EXPECT_TRUE(test::has_pattern(blocks[i], kBytes, i + 100 * round));
        free_and_deliver(blocks[i]);
      }
      blocks[i] = static_cast<char*>(Hz8::allocate_zeroed(kBytes));
      ASSERT_TRUE(test::is_zero(blocks[i], Hz8::usable_size(blocks[i])));
    }
    for (size_t i = 0; i < blocks.size(); ++i) test::fill_pattern(blocks[i], kBytes, i + 100 * (round + 1));
  }
  for (char* block : blocks) free_and_deliver(block);
}

TEST_F(Hz8Test, SmallWordsAreMarkedAgainAfterTheirPagesWentBack) {
  if (os::page_bytes() > 16384) GTEST_SKIP() << "the block that stays keeps the only page";
  constexpr size_t kBytes = 256;
  std::vector<char*> blocks;
  for (int i = 0; i < 200; ++i) blocks.push_back(allocate(kBytes));
  char* const kept = blocks[0];
  Span* const span = find_span(kept);
  test::fill_pattern(kept, kBytes, 3);
  for (size_t i = 1; i < blocks.size(); ++i) {
    std::memset(blocks[i], 1, kBytes);
    free_and_deliver(blocks[i]);
  }
  EXPECT_NE(span->unmarked, ~uint64_t{0}) << "by word";
  Hz8::thread_flush();
  EXPECT_EQ(span->unmarked, ~uint64_t{0});
  expect_identity();
  for (size_t i = 1; i < blocks.size(); ++i) {
    blocks[i] = static_cast<char*>(Hz8::allocate_zeroed(kBytes));
    EXPECT_TRUE(test::is_zero(blocks[i], kBytes));
    std::memset(blocks[i], 2, kBytes);
  }
  expect_identity();
  EXPECT_TRUE(test::has_pattern(kept, kBytes, 3));
  for (char* block : blocks) free_and_deliver(block);
}

TEST_F(Hz8Test, AFlushGivesBackSinglePages) {
  if (os::page_bytes() > 4096) GTEST_SKIP() << "the span has few pages";
  constexpr size_t kBytes = 64;
  std::vector<char*> blocks;
  for (int i = 0; i < 1000; ++i) blocks.push_back(allocate(kBytes));
  char* const run = run_of(find_span(blocks[100]));
  const size_t bytes = run_bytes(find_span(blocks[100]));
  char* const kept = blocks[100];
  for (char* block : blocks) {
    *block = 1;
    if (block != kept) free_and_deliver(block);
  }
  Hz8::thread_flush();
  EXPECT_EQ(test::resident_pages(run, bytes), 1u);
  EXPECT_EQ(*kept, 1);
  expect_identity();
  free_and_deliver(kept);
}

TEST_F(Hz8Test, ATrimLeavesNothingCached) {
  std::vector<char*> blocks;
  for (size_t i = 0; i < 3000; ++i) {
    blocks.push_back(allocate(16 + i * 13));
    std::memset(blocks.back(), 1, 16 + i * 13);
  }
  for (size_t i = 0; i < 20; ++i) {
    blocks.push_back(allocate((i + 9) << 17));
    std::memset(blocks.back(), 1, (i + 9) << 17);
  }
  for (char* block : blocks) free_and_deliver(block);
  EXPECT_GT(statistics().cached, uint64_t{10} << 20);
  EXPECT_GT(Hz8::trim(0), size_t{10} << 20);
  const hakozuna_statistics s = statistics();
  EXPECT_EQ(s.cached, 0u);
  EXPECT_EQ(s.large_cached, 0u);
  EXPECT_EQ(s.free_in_spans, 0u);
  EXPECT_EQ(Hz8::trim(0), 0u) << "nothing is left";
}

TEST_F(Hz8Test, ATrimKeepsWhatItIsToldTo) {
  std::vector<char*> blocks;
  for (int i = 0; i < 64; ++i) {
    blocks.push_back(allocate(65536));
    std::memset(blocks.back(), 1, 65536);
  }
  for (char* block : blocks) free_and_deliver(block);
  constexpr size_t kKeep = size_t{3} << 20;
  Hz8::trim(kKeep);
  const uint64_t cached = statistics().cached;
  EXPECT_LE(cached, kKeep);
  EXPECT_GE(cached, kKeep - (mem::kChunkBytes << mem::kMaxRunOrder)) << "joined runs go whole";
}

TEST_F(Hz8Test, ATrimReachesTheCachesOfSleepersAndAsksThemForTheRest) {
  Worker sleeper;
  const std::vector<char*> blocks = sleeper.allocate(1024, 400);
  for (char* block : blocks) std::memset(block, 1, 1024);
  sleeper.run([&] {
    for (size_t i = 1; i < blocks.size(); ++i) free_and_deliver(blocks[i]);
  });
  Heap* const heap = sleeper.heap();
  Hz8::trim(0);
  EXPECT_EQ(heap->runs.cached_count(), 0u);
  EXPECT_TRUE(heap->flush_requested);
  EXPECT_EQ(statistics().cached, 0u);
  sleeper.run([] { free_and_deliver(Hz8::allocate(32)); });
  EXPECT_FALSE(heap->flush_requested);
  // A page for the block that stays, and the run it gave up last, which the new block was carved from.
  EXPECT_LE(statistics().free_in_spans, mem::kChunkBytes + 2 * os::page_bytes());
  sleeper.deallocate(blocks[0]);
}

TEST_F(Hz8Test, AnIdleProcessThatStillAllocatesGivesEverythingBack) {
  set_purge_delay(30);
  std::vector<char*> blocks;
  for (size_t i = 0; i < 3000; ++i) {
    const size_t bytes = 16 + i * 11;
    blocks.push_back(allocate(bytes));
    std::memset(blocks.back(), 1, bytes);
  }
  char* const large = allocate(size_t{5} << 20);
  std::memset(large, 1, size_t{5} << 20);
  for (char* block : blocks) free_and_deliver(block);
  free_and_deliver(large);
  const auto begin = std::chrono::steady_clock::now();
  const auto resident = [] {
    const hakozuna_statistics s = statistics();
    return s.cached + s.free_in_spans;
  };
  while (resident() > (uint64_t{256} << 10) && std::chrono::steady_clock::now() - begin < std::chrono::seconds(20)) {
    free_and_deliver(allocate(64));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_LE(resident(), uint64_t{256} << 10);
}

// The identity, the contents and zeroed blocks under everything at once.
TEST_F(Hz8Test, TheFiguresAddUpWhateverIsDone) {
  struct Block {
    char* start;
    size_t bytes;
    uint64_t seed;
  };
  test::Random random(7);
  std::vector<Block> blocks;
  uint64_t live = statistics().live;
  for (int i = 0; i < 20000; ++i) {
    const uint64_t choice = random.below(100);
    if (choice < 52 && blocks.size() < 3000) {
      const size_t bytes = random.size_between(1, i % 500 == 0 ? size_t{3} << 20 : 70000);
      const bool zeroed = random.one_in(3);
      auto* const start = static_cast<char*>(zeroed ? Hz8::allocate_zeroed(bytes) : Hz8::allocate(bytes));
      ASSERT_NE(start, nullptr);
      if (zeroed) {
        ASSERT_TRUE(test::is_zero(start, Hz8::usable_size(start))) << bytes;
      }
      blocks.push_back({start, bytes, random.next()});
      test::fill_sparse(start, bytes, blocks.back().seed);
      live += Hz8::usable_size(start);
    } else if (choice < 99 && !blocks.empty()) {
      Block& block = blocks[random.below(blocks.size())];
      ASSERT_TRUE(test::has_sparse(block.start, block.bytes, block.seed));
      live -= Hz8::usable_size(block.start);
      free_and_deliver(block.start);
      block = blocks.back();
      blocks.pop_back();
    } else if (random.one_in(3)) {
      Hz8::trim(random.one_in(2) ? 0 : size_t{1} << 20);
    } else {
      Hz8::thread_flush();
    }
    if (i % 100 == 0) {
      expect_identity();
      ASSERT_EQ(statistics().live, live);
    }
  }
  uint64_t of_classes = 0;
  hakozuna_class_statistics s{};
  for (size_t index = 0; Hz8::collect_class_statistics(index, s); ++index) of_classes += s.live_slots * s.size;
  EXPECT_EQ(of_classes + statistics().large_live, live);
  for (const Block& block : blocks) free_and_deliver(block.start);
}

}  // namespace
}  // namespace hakozuna::hz8
