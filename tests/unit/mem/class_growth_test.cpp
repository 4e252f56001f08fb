#include "common/mem/class_growth.h"

#include <gtest/gtest.h>

#include <vector>

#include "common/mem/chunk_supply.h"
#include "common/os/os.h"
#include "unit/os/resident_pages.h"

namespace hakozuna::mem {
namespace {

class ClassGrowthTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(chunk_supply.initialise(128));
    void* const probe = os::map(kChunkBytes, kChunkBytes);
    ASSERT_NE(probe, nullptr);
    populates_ = os::populate(probe, kChunkBytes);
    os::unmap(probe, kChunkBytes);
  }
  void TearDown() override {
    for (char* run : runs_) chunk_supply.release_run(run, kOrder, 0, 0);
    chunk_supply.purge(0, 0, 0);
  }

  // Pages with memory of a new run of the class.
  size_t pages_of_next(uint32_t size_class) {
    uint32_t order_found = 0;
    char* const run = chunk_supply.allocate_cold_run(kOrder, /*limit_bytes=*/0, order_found);
    runs_.push_back(run);
    growth_.note(run, size_class, kOrder);
    const size_t pages = test::resident_pages(run, bytes());
    const auto marked = chunk_supply.presence(run, bytes());
    EXPECT_EQ(marked, pages == 0 ? ChunkSupply::Presence::kNone : ChunkSupply::Presence::kAll);
    return pages;
  }
  static size_t bytes() { return kChunkBytes << kOrder; }
  size_t all_pages() const { return populates_ ? bytes() / os::page_bytes() : 0; }

  static constexpr uint32_t kOrder = kMaxRunOrder;
  ClassGrowth<3> growth_;
  std::vector<char*> runs_;
  bool populates_ = false;
};

TEST_F(ClassGrowthTest, TheThirdRunBetweenTicksAndWhatFollowsHasMemoryAtOnce) {
  EXPECT_EQ(pages_of_next(5), 0u);
  EXPECT_EQ(pages_of_next(5), 0u);
  EXPECT_EQ(pages_of_next(6), 0u) << "each class for itself";
  EXPECT_EQ(pages_of_next(5), all_pages());
  EXPECT_EQ(pages_of_next(5), all_pages());
  growth_.tick();
  EXPECT_EQ(pages_of_next(5), 0u);
}

TEST_F(ClassGrowthTest, SlotsAboveAPageAreLeftAlone) {
  for (int i = 0; i < 5; ++i) EXPECT_EQ(pages_of_next(kSmallClassCount), 0u);
}

}  // namespace
}  // namespace hakozuna::mem
