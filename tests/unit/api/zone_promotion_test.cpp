#include "common/api/mach_o/zone_promotion.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace hakozuna::api {
namespace {

struct Zone {};

// The system's list, as its documentation and its behaviour say: a new zone at the end, the last one in the place of one that leaves.
struct FakeZones {
  static inline std::vector<Zone*> list;
  static inline Zone* purgeable_zone = nullptr;
  static inline size_t most_missing = 0;  // zones out of the list at the same time
  static inline size_t expected = 0;

  static void append(Zone* zone) {
    ASSERT_EQ(std::count(list.begin(), list.end(), zone), 0);
    list.push_back(zone);
    expected = std::max(expected, list.size());
  }
  static void remove(Zone* zone) {
    const auto found = std::find(list.begin(), list.end(), zone);
    ASSERT_NE(found, list.end());
    *found = list.back();
    list.pop_back();
    most_missing = std::max(most_missing, expected - list.size());
  }
  static Zone* first() { return list.front(); }
  static Zone* purgeable() {
    if (purgeable_zone && std::count(list.begin(), list.end(), purgeable_zone) == 0) append(purgeable_zone);
    return purgeable_zone;
  }
};

class ZonePromotion : public testing::Test {
 protected:
  void SetUp() override {
    FakeZones::list = {&system_, &helper_};
    FakeZones::purgeable_zone = nullptr;
    FakeZones::most_missing = 0;
    FakeZones::expected = 2;
  }
  static ptrdiff_t position(Zone* zone) {
    return std::find(FakeZones::list.begin(), FakeZones::list.end(), zone) - FakeZones::list.begin();
  }

  Zone system_, helper_, purgeable_, ours_;
};

TEST_F(ZonePromotion, OursBecomesTheFirst) {
  EXPECT_TRUE(promote_to_default<FakeZones>(&ours_));
  EXPECT_EQ(FakeZones::list.front(), &ours_);
  EXPECT_EQ(FakeZones::list.size(), 3u);
}

TEST_F(ZonePromotion, TheOnlyZoneGivesWay) {
  FakeZones::list = {&system_};
  EXPECT_TRUE(promote_to_default<FakeZones>(&ours_));
  EXPECT_EQ(FakeZones::list, (std::vector<Zone*>{&ours_, &system_}));
}

TEST_F(ZonePromotion, PurgeableZoneStaysBehindTheOldDefault) {
  FakeZones::purgeable_zone = &purgeable_;
  EXPECT_TRUE(promote_to_default<FakeZones>(&ours_));
  EXPECT_EQ(FakeZones::list.front(), &ours_);
  EXPECT_LT(position(&system_), position(&purgeable_));
  EXPECT_EQ(FakeZones::list.size(), 4u);
}

TEST_F(ZonePromotion, ManyZonesAreAllStillThere) {
  std::vector<Zone> many(20);
  for (Zone& zone : many) FakeZones::append(&zone);
  FakeZones::purgeable_zone = &purgeable_;
  EXPECT_TRUE(promote_to_default<FakeZones>(&ours_));
  EXPECT_EQ(FakeZones::list.front(), &ours_);
  EXPECT_EQ(FakeZones::list.size(), 24u);
}

TEST_F(ZonePromotion, OneZoneIsMissingAtATime) {
  FakeZones::purgeable_zone = &purgeable_;
  promote_to_default<FakeZones>(&ours_);
  EXPECT_EQ(FakeZones::most_missing, 1u);
}

// A list that is as it is.
struct StubbornZones : FakeZones {
  static inline Zone fixed;
  static Zone* first() { return &fixed; }
  static void append(Zone*) {}
  static void remove(Zone*) {}
};

TEST_F(ZonePromotion, GivesUpWhereTheListDoesNotChange) { EXPECT_FALSE(promote_to_default<StubbornZones>(&ours_)); }

}  // namespace
}  // namespace hakozuna::api
