// What goes back to the system, what is known to be zero, and that the figures add up.
#include "hz3/reclaim.h"

#include <cstring>

#include "support/pattern.h"
#include "support/random.h"
#include "unit/hz3/line_under_test.h"
#include "unit/os/resident_pages.h"

namespace hakozuna::hz3 {
namespace {

char* allocate(size_t bytes) { return static_cast<char*>(Hz3::allocate(bytes)); }

TEST_F(Hz3Test, ZeroedBlocksOfNewMemoryAreNotTouched) {
  const size_t bytes = 5 * os::page_bytes();  // a slot that shares no page with its neighbours
  auto* const block = static_cast<char*>(Hz3::allocate_zeroed(bytes));
  auto* const other = static_cast<char*>(Hz3::allocate_zeroed(bytes));
  EXPECT_EQ(test::resident_pages_within(block, bytes), 0u);
  EXPECT_TRUE(test::is_zero(block, bytes));
  test::fill_pattern(block, bytes, 1);
  Hz3::deallocate(block);
  EXPECT_EQ(Hz3::allocate_zeroed(bytes), block) << "warm memory first";
  EXPECT_TRUE(test::is_zero(block, bytes));
  test::fill_pattern(block, bytes, 2);
  Hz3::deallocate(block);
  Hz3::thread_flush();
  EXPECT_EQ(Hz3::allocate_zeroed(bytes), block);
  EXPECT_EQ(test::resident_pages_within(block, bytes), 0u) << "its pages had gone back";
  Hz3::deallocate(block);
  Hz3::deallocate(other);
}

TEST_F(Hz3Test, ABlockThatSharesAPageIsNotTakenForZero) {
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
      if (!stays(i)) Hz3::deallocate(blocks[i]);
    }
    Hz3::thread_flush();
    expect_identity();
    for (size_t i = 0; i < blocks.size(); ++i) {
      if (stays(i)) {
        EXPECT_TRUE(test::has_pattern(blocks[i], kBytes, i + 100 * round));
        Hz3::deallocate(blocks[i]);
      }
      blocks[i] = static_cast<char*>(Hz3::allocate_zeroed(kBytes));
      ASSERT_TRUE(test::is_zero(blocks[i], Hz3::usable_size(blocks[i])));
    }
    for (size_t i = 0; i < blocks.size(); ++i) test::fill_pattern(blocks[i], kBytes, i + 100 * (round + 1));
  }
  for (char* block : blocks) Hz3::deallocate(block);
}

TEST_F(Hz3Test, AFlushGivesBackSinglePages) {
  constexpr size_t kBytes = 64;
  std::vector<char*> blocks;
  for (int i = 0; i < 1000; ++i) blocks.push_back(allocate(kBytes));
  Span* const span = find_span(blocks[100]);
  char* const kept = blocks[100];
  for (char* block : blocks) {
    *block = 1;
    if (block != kept) Hz3::deallocate(block);
  }
  Hz3::thread_flush();
  EXPECT_EQ(test::resident_pages(span->run, span->geometry().run_bytes()), 1u);
  EXPECT_EQ(*kept, 1);
  expect_identity();
  Hz3::deallocate(kept);
}

TEST_F(Hz3Test, ATrimLeavesNothingCached) {
  std::vector<char*> blocks;
  for (size_t i = 0; i < 3000; ++i) {
    blocks.push_back(allocate(16 + i * 13));
    std::memset(blocks.back(), 1, 16 + i * 13);
  }
  for (size_t i = 0; i < 20; ++i) {
    blocks.push_back(allocate((i + 9) << 17));
    std::memset(blocks.back(), 1, (i + 9) << 17);
  }
  for (char* block : blocks) Hz3::deallocate(block);
  EXPECT_GT(statistics().cached, uint64_t{10} << 20);
  EXPECT_GT(Hz3::trim(0), size_t{10} << 20);
  const hakozuna_statistics s = statistics();
  EXPECT_EQ(s.cached, 0u);
  EXPECT_EQ(s.large_cached, 0u);
  EXPECT_EQ(s.free_in_spans, 0u);
  EXPECT_EQ(Hz3::trim(0), 0u) << "nothing is left";
}

TEST_F(Hz3Test, ATrimReachesTheRunsOfSleepersAndAsksThemForTheRest) {
  Worker sleeper;
  const std::vector<char*> blocks = sleeper.allocate(1024, 400);
  for (char* block : blocks) std::memset(block, 1, 1024);
  sleeper.run([&] {
    for (size_t i = 1; i < blocks.size(); ++i) Hz3::deallocate(blocks[i]);
  });
  Heap* const heap = sleeper.heap();
  Hz3::trim(0);
  EXPECT_EQ(heap->runs.cached_count(), 0u);
  EXPECT_TRUE(heap->flush_requested);
  EXPECT_EQ(statistics().cached, 0u);
  // What stays is what is in the bin, and what shares a page with that.
  EXPECT_LE(statistics().free_in_spans, 2 * os::page_bytes() * bin_count(heap, 1024));
  sleeper.run([] { Hz3::deallocate(Hz3::allocate(32)); });
  EXPECT_FALSE(heap->flush_requested);
  EXPECT_EQ(bin_count(heap, 1024), 0u);
  sleeper.deallocate(blocks[0]);
}

TEST_F(Hz3Test, AHeapThatOnlyAllocatesIsNotArmed) {
  Worker worker;
  worker.run([] {
    std::vector<char*> blocks;
    for (size_t i = 0; i < 3000; ++i) blocks.push_back(allocate(16 + i * 11));
    EXPECT_EQ(thread_heap->tick_due, 0u);
    for (int i = 0; i < 10000; ++i) Hz3::deallocate(allocate(16 + static_cast<size_t>(i)));
    EXPECT_NE(thread_heap->fast_limit, 0u) << "its allocations stay on the fast path";
    for (char* block : blocks) Hz3::deallocate(block);
    EXPECT_NE(thread_heap->tick_due, 0u);
  });
}

TEST_F(Hz3Test, AnIdleProcessThatStillAllocatesGivesEverythingBack) {
  set_purge_delay(30);
  std::vector<char*> blocks;
  for (size_t i = 0; i < 3000; ++i) {
    const size_t bytes = 16 + i * 11;
    blocks.push_back(allocate(bytes));
    std::memset(blocks.back(), 1, bytes);
  }
  char* const large = allocate(size_t{5} << 20);
  std::memset(large, 1, size_t{5} << 20);
  for (char* block : blocks) Hz3::deallocate(block);
  Hz3::deallocate(large);
  const auto begin = std::chrono::steady_clock::now();
  const auto resident = [] {
    const hakozuna_statistics s = statistics();
    return s.cached + s.free_in_spans;
  };
  // A page in the bin of each small class may stay.
  const uint64_t kStays = 128 * os::page_bytes();
  while ((resident() > kStays || thread_heap->tick_due != 0) && std::chrono::steady_clock::now() - begin < std::chrono::seconds(20)) {
    Hz3::deallocate(allocate(64));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_LE(resident(), kStays);
  EXPECT_EQ(thread_heap->tick_due, 0u) << "and is at peace then";
}

TEST_F(Hz3Test, ThePagesOfASpanInUseAreNotReturnedBetweenTwoUses) {
  Worker worker;
  worker.run([] {
    Heap* const heap = own_heap();
    const size_t bytes = os::page_bytes();
    std::vector<char*> blocks;
    for (int i = 0; i < 100; ++i) blocks.push_back(allocate(bytes));
    for (char* block : blocks) std::memset(block, 1, bytes);
    for (size_t i = 0; i < blocks.size(); i += 2) Hz3::deallocate(blocks[i]);
    const uint64_t before = statistics().returned;
    EXPECT_TRUE(HeapKind::tick(heap));
    EXPECT_EQ(statistics().returned, before);
    EXPECT_TRUE(HeapKind::tick(heap));
    EXPECT_EQ(statistics().returned, before);
    EXPECT_FALSE(HeapKind::tick(heap)) << "nothing is left to do";
    EXPECT_GE(statistics().returned, before + 40 * bytes);
    EXPECT_FALSE(HeapKind::has_queued(heap));
    for (size_t i = 1; i < blocks.size(); i += 2) Hz3::deallocate(blocks[i]);
  });
}

// The identity, the contents and zeroed blocks under everything at once.
TEST_F(Hz3Test, TheFiguresAddUpWhateverIsDone) {
  struct Block {
    char* start;
    size_t bytes;
    uint64_t seed;
  };
  test::Random random(7);
  std::vector<Block> blocks;
  Worker other;
  uint64_t live = statistics().live;
  for (int i = 0; i < 20000; ++i) {
    const uint64_t choice = random.below(100);
    if (choice < 52 && blocks.size() < 3000) {
      const size_t bytes = random.size_between(1, i % 500 == 0 ? size_t{3} << 20 : 100000);
      const bool zeroed = random.one_in(3);
      auto* const start = static_cast<char*>(zeroed ? Hz3::allocate_zeroed(bytes) : Hz3::allocate(bytes));
      ASSERT_NE(start, nullptr);
      if (zeroed) {
        ASSERT_TRUE(test::is_zero(start, Hz3::usable_size(start))) << bytes;
      }
      blocks.push_back({start, bytes, random.next()});
      test::fill_sparse(start, bytes, blocks.back().seed);
      live += Hz3::usable_size(start);
    } else if (choice < 99 && !blocks.empty()) {
      Block& block = blocks[random.below(blocks.size())];
      ASSERT_TRUE(test::has_sparse(block.start, block.bytes, block.seed));
      live -= Hz3::usable_size(block.start);
      if (random.one_in(8)) {
        other.deallocate(block.start);
      } else {
        Hz3::deallocate(block.start);
      }
      block = blocks.back();
      blocks.pop_back();
    } else if (random.one_in(3)) {
      Hz3::trim(random.one_in(2) ? 0 : size_t{1} << 20);
    } else {
      Hz3::thread_flush();
    }
    if (i % 100 == 0) {
      expect_identity();
      ASSERT_EQ(statistics().live, live);
    }
  }
  uint64_t of_classes = 0;
  hakozuna_class_statistics s{};
  for (size_t index = 0; Hz3::collect_class_statistics(index, s); ++index) of_classes += s.live_slots * s.size;
  EXPECT_EQ(of_classes + statistics().large_live, live);
  for (const Block& block : blocks) Hz3::deallocate(block.start);
}

}  // namespace
}  // namespace hakozuna::hz3
