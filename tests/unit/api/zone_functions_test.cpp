#include "common/api/mach_o/zone_functions.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace hakozuna::api {
namespace {

// A line that says what it was asked for.
struct FakeLine {
  static inline std::map<const void*, size_t> blocks;
  static inline std::vector<void*> freed;
  static inline std::vector<const char*> calls;
  static inline size_t left = 0;  // blocks there is memory for
  static inline char memory[16][256];
  static inline const void* const known_and_free = &memory[15];

  static void reset() {
    blocks.clear();
    freed.clear();
    calls.clear();
    left = 8;
    std::memset(memory, 'x', sizeof memory);
  }
  static void* allocate(size_t size) noexcept {
    if (left == 0) return nullptr;
    --left;
    void* const block = memory[blocks.size()];
    blocks[block] = size;
    return block;
  }
  static void* allocate_zeroed(size_t size) noexcept {
    calls.push_back("zeroed");
    return allocate(size);
  }
  static void* allocate_aligned(size_t, size_t size) noexcept {
    calls.push_back("aligned");
    return allocate(size);
  }
  static void deallocate(void* block) noexcept { freed.push_back(block); }
  static void deallocate_sized(void* block, size_t) noexcept {
    calls.push_back("sized");
    freed.push_back(block);
  }
  static size_t usable_size(const void* block) noexcept { return blocks.count(block) ? blocks[block] : 0; }
  static size_t good_size(size_t size) noexcept { return size > 1000 ? 0 : (size + 15) / 16 * 16; }
  static Classification classify(const void* address) noexcept {
    if (blocks.count(address)) return {.verdict = Verdict::kValid};
    return {.verdict = address == known_and_free ? Verdict::kFreed : Verdict::kMiss};
  }
  static size_t trim(size_t keep) noexcept { return keep == 0 ? 4096 : 0; }
  static void fork_prepare() noexcept { calls.push_back("prepare"); }
  static void fork_parent() noexcept { calls.push_back("parent"); }
  static void fork_child() noexcept { calls.push_back("child"); }
};

struct FakeFront {
  static void* resize(void* block, size_t) { return block; }
  static size_t page_bytes() { return 128; }
  static void statistics(hakozuna_statistics& all) {
    all.live = 100;
    all.mapped = 300;
  }
};

using Functions = ZoneFunctions<FakeLine, FakeFront>;

class ZoneFunctionsTest : public testing::Test {
 protected:
  void SetUp() override { FakeLine::reset(); }
};

TEST_F(ZoneFunctionsTest, SizeIsZeroForWhatIsNotOurs) {
  int other;
  EXPECT_EQ(Functions::size(Functions::allocate(24)), 24u);
  EXPECT_EQ(Functions::size(&other), 0u);
  EXPECT_EQ(Functions::size(FakeLine::known_and_free), 0u);
}

TEST_F(ZoneFunctionsTest, ClaimsWhatIsInOurMemoryEvenIfItIsFree) {
  int other;
  EXPECT_TRUE(Functions::claims(Functions::allocate(24)));
  EXPECT_TRUE(Functions::claims(FakeLine::known_and_free));
  EXPECT_FALSE(Functions::claims(&other));
}

TEST_F(ZoneFunctionsTest, ZeroedAllocationRefusesAnOverflow) {
  EXPECT_EQ(Functions::allocate_zeroed(SIZE_MAX / 2, 3), nullptr);
  EXPECT_TRUE(FakeLine::calls.empty());
  EXPECT_NE(Functions::allocate_zeroed(3, 5), nullptr);
  EXPECT_EQ(FakeLine::blocks.begin()->second, 15u);
}

TEST_F(ZoneFunctionsTest, PagesAreZero) {
  char* const page = static_cast<char*>(Functions::allocate_pages(100));
  ASSERT_NE(page, nullptr);
  for (size_t i = 0; i < 100; ++i) EXPECT_EQ(page[i], 0) << i;
  FakeLine::left = 0;
  EXPECT_EQ(Functions::allocate_pages(100), nullptr);
}

TEST_F(ZoneFunctionsTest, AlignmentIsAPowerOfTwoOfAtLeastAPointer) {
  for (const size_t wrong : {size_t{0}, size_t{1}, size_t{4}, size_t{24}}) {
    EXPECT_EQ(Functions::allocate_aligned(wrong, 8), nullptr) << wrong;
  }
  EXPECT_NE(Functions::allocate_aligned(64, 8), nullptr);
}

TEST_F(ZoneFunctionsTest, BatchGivesAsManyAsThereAre) {
  void* blocks[16] = {};
  FakeLine::left = 5;
  EXPECT_EQ(Functions::allocate_batch(16, blocks, 16), 5u);
  FakeLine::left = 8;
  EXPECT_EQ(Functions::allocate_batch(16, blocks, 3), 3u);
  EXPECT_EQ(Functions::allocate_batch(16, blocks, 0), 0u);
}

TEST_F(ZoneFunctionsTest, BatchFreesEachOnce) {
  void* blocks[4];
  ASSERT_EQ(Functions::allocate_batch(16, blocks, 4), 4u);
  const std::vector<void*> given(blocks, blocks + 4);
  Functions::deallocate_batch(blocks, 4);
  EXPECT_EQ(FakeLine::freed, given);
}

TEST_F(ZoneFunctionsTest, ForeignBlocksGoTheLinesWay) {
  int other;  // the line passes it to the allocator underneath
  Functions::deallocate(&other);
  Functions::deallocate_sized(&other, 4);
  EXPECT_EQ(FakeLine::freed, (std::vector<void*>{&other, &other}));
}

TEST_F(ZoneFunctionsTest, GoodSizeIsNeverBelowTheQuestion) {
  EXPECT_EQ(Functions::good_size(17), 32u);
  EXPECT_EQ(Functions::good_size(5000), 5000u);
}

TEST_F(ZoneFunctionsTest, PressureReturnsAllThatIsFree) { EXPECT_EQ(Functions::relieve_pressure(1), 4096u); }

TEST_F(ZoneFunctionsTest, StatisticsAreTheFrontDoors) {
  EXPECT_EQ(Functions::statistics().bytes_in_use, 100u);
  EXPECT_EQ(Functions::statistics().bytes_mapped, 300u);
}

TEST_F(ZoneFunctionsTest, LockFunctionsAreTheForkHooks) {
  EXPECT_FALSE(Functions::is_locked());
  Functions::lock();
  EXPECT_TRUE(Functions::is_locked());
  Functions::unlock();
  EXPECT_FALSE(Functions::is_locked());
  Functions::lock();
  Functions::reset_lock_in_child();
  EXPECT_FALSE(Functions::is_locked());
  EXPECT_EQ(FakeLine::calls, (std::vector<const char*>{"prepare", "parent", "prepare", "child"}));
}

}  // namespace
}  // namespace hakozuna::api
