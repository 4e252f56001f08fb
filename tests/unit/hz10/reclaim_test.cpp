// What goes back to the system, and that the figures add up.
#include <chrono>
#include <cstring>

#include "support/pattern.h"
#include "support/random.h"
#include "unit/hz10/line_under_test.h"

namespace hakozuna::hz10 {
namespace {

TEST_F(Hz10Test, ATrimLeavesNothingCached) {
  std::vector<char*> blocks;
  for (size_t i = 0; i < 3000; ++i) {
    blocks.push_back(allocate(16 + i * 13));
    std::memset(blocks.back(), 1, 16 + i * 13);
  }
  for (size_t i = 0; i < 20; ++i) {
    blocks.push_back(allocate((i + 9) << 17));
    std::memset(blocks.back(), 1, (i + 9) << 17);
  }
  deallocate(blocks);
  EXPECT_GT(Hz10::trim(0), size_t{10} << 20);
  const hakozuna_statistics s = statistics();
  EXPECT_EQ(s.cached, 0u);
  EXPECT_EQ(s.large_cached, 0u);
  EXPECT_EQ(s.free_in_spans, 0u);
  EXPECT_EQ(s.live, 0u);
  EXPECT_EQ(Hz10::trim(0), 0u) << "nothing is left";
}

TEST_F(Hz10Test, ATrimAsksSleepersForTheirBins) {
  Worker sleeper;
  sleeper.deallocate(sleeper.allocate(1024, 400));
  Heap* const heap = sleeper.heap();
  EXPECT_GT(count_of(heap, mem::class_of(1024)), 0u);
  Hz10::trim(0);
  EXPECT_TRUE(heap->flush_requested);
  sleeper.run([] { Hz10::deallocate(Hz10::allocate(32)); });
  EXPECT_FALSE(heap->flush_requested);
  EXPECT_EQ(count_of(heap, mem::class_of(1024)), 0u);
}

TEST_F(Hz10Test, AnIdleProcessThatStillAllocatesGivesEverythingBack) {
  set_purge_delay(30);
  std::vector<char*> blocks;
  for (size_t i = 0; i < 3000; ++i) {
    const size_t bytes = 16 + i * 11;
    blocks.push_back(allocate(bytes));
    std::memset(blocks.back(), 1, bytes);
  }
  char* const large = allocate(size_t{5} << 20);
  std::memset(large, 1, size_t{5} << 20);
  deallocate(blocks);
  Hz10::deallocate(large);
  const auto begin = std::chrono::steady_clock::now();
  const auto resident = [] {
    const hakozuna_statistics s = statistics();
    return s.cached + s.free_in_spans;
  };
  while (resident() > (uint64_t{256} << 10) && std::chrono::steady_clock::now() - begin < std::chrono::seconds(20)) {
    Hz10::deallocate(allocate(64));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_LE(resident(), uint64_t{256} << 10);
}

// The identity, the contents and zeroed blocks under everything at once.
TEST_F(Hz10Test, TheFiguresAddUpWhateverIsDone) {
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
      auto* const start = static_cast<char*>(zeroed ? Hz10::allocate_zeroed(bytes) : Hz10::allocate(bytes));
      ASSERT_NE(start, nullptr);
      if (zeroed) {
        ASSERT_TRUE(test::is_zero(start, Hz10::usable_size(start))) << bytes;
      }
      blocks.push_back({start, bytes, random.next()});
      test::fill_sparse(start, bytes, blocks.back().seed);
      live += Hz10::usable_size(start);
    } else if (choice < 99 && !blocks.empty()) {
      Block& block = blocks[random.below(blocks.size())];
      ASSERT_TRUE(test::has_sparse(block.start, block.bytes, block.seed));
      live -= Hz10::usable_size(block.start);
      Hz10::deallocate(block.start);
      block = blocks.back();
      blocks.pop_back();
    } else if (random.one_in(3)) {
      Hz10::trim(random.one_in(2) ? 0 : size_t{1} << 20);
    } else {
      Hz10::thread_flush();
    }
    if (i % 100 == 0) {
      expect_identity();
      ASSERT_EQ(statistics().live, live);
    }
  }
  uint64_t of_classes = 0;
  hakozuna_class_statistics s{};
  for (size_t index = 0; Hz10::collect_class_statistics(index, s); ++index) of_classes += s.live_slots * s.size;
  EXPECT_EQ(of_classes + statistics().large_live, live);
  for (const Block& block : blocks) Hz10::deallocate(block.start);
}

}  // namespace
}  // namespace hakozuna::hz10
