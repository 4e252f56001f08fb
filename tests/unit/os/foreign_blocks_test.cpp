#include "common/os/darwin/foreign_blocks.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace hakozuna::os {
namespace {

struct Zone {
  std::string name;
  std::map<const void*, size_t> blocks;
};

struct FakeZones {
  static inline std::vector<Zone*> registered;
  static inline std::vector<std::string> unknowns;

  static Zone* zone_of(const void* block) {
    for (Zone* zone : registered) {
      if (zone->blocks.count(block)) return zone;
    }
    return nullptr;
  }
  static void free(Zone* zone, void* block) { zone->blocks.erase(block); }
  static void* realloc(Zone* zone, void* block, size_t size) {
    zone->blocks[block] = size;
    return block;
  }
  static size_t size(Zone* zone, const void* block) { return zone->blocks.at(block); }
  static void unknown(const char* operation, const void*) { unknowns.push_back(operation); }
};

using Foreign = ForeignBlocks<FakeZones>;

class ForeignBlocksTest : public testing::Test {
 protected:
  void SetUp() override {
    first_.blocks = {{&blocks_[0], 16}};
    second_.blocks = {{&blocks_[1], 32}};
    FakeZones::registered = {&ours_, &first_, &second_};
    FakeZones::unknowns.clear();
  }

  char blocks_[3];
  Zone ours_{"ours", {}};  // is asked too, and says no
  Zone first_{"first", {}};
  Zone second_{"second", {}};
};

TEST_F(ForeignBlocksTest, FreeGoesToTheBlocksZone) {
  const uint64_t before = Foreign::free_count();
  Foreign::free(&blocks_[1]);
  EXPECT_TRUE(second_.blocks.empty());
  EXPECT_EQ(first_.blocks.size(), 1u);
  EXPECT_EQ(Foreign::free_count(), before + 1);
}

TEST_F(ForeignBlocksTest, ReallocStaysInTheBlocksZone) {
  EXPECT_EQ(Foreign::realloc(&blocks_[0], 100), &blocks_[0]);
  EXPECT_EQ(first_.blocks[&blocks_[0]], 100u);
}

TEST_F(ForeignBlocksTest, SizeIsTheZonesOrNothing) {
  EXPECT_EQ(Foreign::usable_size(&blocks_[1]), 32u);
  EXPECT_EQ(Foreign::usable_size(&blocks_[2]), 0u);
  EXPECT_TRUE(FakeZones::unknowns.empty());
}

TEST_F(ForeignBlocksTest, ABlockOfNoZoneIsReported) {
  Foreign::free(&blocks_[2]);
  EXPECT_EQ(Foreign::realloc(&blocks_[2], 8), nullptr);
  EXPECT_EQ(FakeZones::unknowns, (std::vector<std::string>{"free", "realloc"}));
}

}  // namespace
}  // namespace hakozuna::os
