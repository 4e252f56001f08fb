// Which pages of the supply hold memory, and when they are returned.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "support/pattern.h"
#include "support/random.h"
#include "unit/mem/supply_fixture.h"
#include "unit/os/resident_pages.h"

namespace hakozuna::mem {
namespace {

class PurgeTest : public SupplyTest {
 protected:
  // A run whose neighbour is in use, so that it stays apart when it is free.
  char* separate_run() {
    char* const pair = allocate(1);
    release(pair, 1);
    char* const run = allocate_and_write(0);
    allocate(0);
    return run;
  }
};

TEST_F(PurgeTest, NothingBeforeTheDelayIsOver) {
  char* const run = allocate_and_write(kMaxRunOrder);
  release(run, kMaxRunOrder, 1000);
  EXPECT_EQ(supply_.purge(1499, 500, kRetainNothing), 0u);
  EXPECT_EQ(test::resident_pages(run, bytes_of(kMaxRunOrder)) * os::page_bytes(), bytes_of(kMaxRunOrder));
  EXPECT_EQ(supply_.purge(1500, 500, kRetainNothing), bytes_of(kMaxRunOrder));
  EXPECT_EQ(test::resident_pages(run, bytes_of(kMaxRunOrder)), 0u);
  EXPECT_EQ(supply_.purge(9999, 0, kRetainNothing), 0u) << "is cold now";
  ASSERT_EQ(allocate(kMaxRunOrder), run);
  EXPECT_TRUE(test::is_zero(run, bytes_of(kMaxRunOrder)));
  EXPECT_EQ(supply_.presence(run, bytes_of(kMaxRunOrder)), ChunkSupply::Presence::kNone);
}

TEST_F(PurgeTest, TheClockMayWrap) {
  const uint64_t wrap = uint64_t{1} << 32;
  release(separate_run(), 0, wrap - 10);
  EXPECT_EQ(supply_.purge(wrap + 89, 100, kRetainNothing), 0u);
  EXPECT_EQ(supply_.purge(wrap + 90, 100, kRetainNothing), kChunkBytes);
}

TEST_F(PurgeTest, WhatIsFreedAfterTheClockWasReadIsYoung) {
  release(separate_run(), 0, 1004);
  EXPECT_EQ(supply_.purge(1000, 500, kRetainNothing), 0u);
  EXPECT_EQ(supply_.purge(1000, 0, kRetainNothing), kChunkBytes) << "a trim takes everything";
}

TEST_F(PurgeTest, RetainStaysWarm) {
  for (int i = 0; i < 10; ++i) release(separate_run(), 0, 100 + static_cast<uint64_t>(i));
  // ... which gave out and took back the same run; make ten of them.
  std::vector<char*> runs;
  for (int i = 0; i < 10; ++i) runs.push_back(separate_run());
  for (char* run : runs) release(run, 0, 1000);
  ASSERT_EQ(supply_.totals().free_runs.resident, 10 * kChunkBytes);
  EXPECT_EQ(supply_.purge(5000, 100, 10 * kChunkBytes), 0u);
  EXPECT_EQ(supply_.purge(5000, 100, 7 * kChunkBytes), 3 * kChunkBytes);
  EXPECT_EQ(supply_.totals().free_runs.resident, 7 * kChunkBytes);
  EXPECT_EQ(supply_.purge(5000, 100, kRetainNothing), 7 * kChunkBytes);
}

TEST_F(PurgeTest, TheLongestFreeGoFirst) {
  std::vector<char*> runs;
  for (int i = 0; i < 4; ++i) runs.push_back(separate_run());
  for (uint64_t i = 0; i < 4; ++i) release(runs[i], 0, 1000 + i * 100);
  EXPECT_EQ(supply_.purge(1600, 450, kRetainNothing), 2 * kChunkBytes);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(test::resident_pages(runs[i], kChunkBytes) == 0, i < 2) << i;
  }
}

TEST_F(PurgeTest, AJoinedRunIsAsOldAsItsOldestPart) {
  char* const run = allocate_and_write(1);
  allocate(1);
  release(run, 1);
  char* const lower = allocate(0);
  char* const upper = allocate(0);
  release(lower, 0, 1000);
  release(upper, 0, 2000);
  EXPECT_EQ(supply_.purge(1999, 1000, kRetainNothing), 0u);
  EXPECT_EQ(supply_.purge(2000, 1000, kRetainNothing), 2 * kChunkBytes);
}

TEST_F(PurgeTest, ButAColdPartHasNoAge) {
  char* const run = allocate(1);  // never touched
  allocate(1);
  release(run, 1);
  char* const lower = allocate_and_write(0);
  release(lower, 0, 1000);  // joins its cold buddy, free since 0
  EXPECT_EQ(supply_.purge(1400, 500, kRetainNothing), 0u);
  EXPECT_EQ(supply_.purge(1500, 500, kRetainNothing), kChunkBytes);
}

TEST_F(PurgeTest, AsksForAPurgeOncePerPurge) {
  std::vector<char*> runs;
  for (int i = 0; i < 4; ++i) runs.push_back(separate_run());
  EXPECT_FALSE(release(runs[0], 0, 1000, kChunkBytes)) << "not above what is retained";
  EXPECT_FALSE(supply_.purge_pending());
  EXPECT_TRUE(release(runs[1], 0, 1000, kChunkBytes));
  EXPECT_TRUE(supply_.purge_pending());
  EXPECT_FALSE(release(runs[2], 0, 1000, kChunkBytes)) << "asked for already";
  EXPECT_EQ(supply_.purge(1001, 500, kChunkBytes), 0u);
  EXPECT_TRUE(supply_.purge_pending()) << "not old enough: still to be done";
  EXPECT_EQ(supply_.purge(2000, 500, kChunkBytes), 2 * kChunkBytes);
  EXPECT_FALSE(supply_.purge_pending());
  EXPECT_TRUE(release(runs[3], 0, 3000, kChunkBytes)) << "again";
}

TEST_F(PurgeTest, CountsCallsAndBytes) {
  char* const run = allocate_and_write(2);
  allocate(2);
  release(run, 2, 1000);
  supply_.purge(2000, 0, kRetainNothing);
  const ChunkSupply::Totals totals = supply_.totals();
  EXPECT_EQ(totals.purge_calls, 1u) << "one for each stretch";
  EXPECT_EQ(totals.purged_bytes, bytes_of(2));
}

// ---- Pages -----------------------------------------------------------------------------------------------------------

TEST_F(SupplyTest, DiscardRoundsInwardsAndReturnsResidentPagesOnly) {
  const size_t page = os::page_bytes();
  char* const run = allocate_and_write(2, 9);
  EXPECT_EQ(supply_.discard(run + 1, 2 * page - 2), 0u) << "no whole page";
  EXPECT_EQ(supply_.discard(run + 1, 2 * page), page);
  EXPECT_EQ(run[0], 9);
  EXPECT_EQ(run[2 * page], 9);
  EXPECT_EQ(test::resident_pages(run + page, page), 0u);
  EXPECT_EQ(supply_.discard(run + page, page), 0u) << "is gone already";
  const uint64_t calls = supply_.totals().purge_calls;
  EXPECT_EQ(supply_.discard(run, bytes_of(2)), bytes_of(2) - page);
  EXPECT_EQ(supply_.totals().purge_calls, calls + 2) << "the stretches before and after";
}

TEST_F(SupplyTest, PresenceOfARange) {
  using Presence = ChunkSupply::Presence;
  const size_t page = os::page_bytes();
  char* const run = allocate(2);
  EXPECT_EQ(supply_.presence(run, bytes_of(2)), Presence::kNone);
  // One byte on either side of a chunk's border. A chunk may be a single page.
  char* const border = run + bytes_of(1);
  supply_.mark_resident(border - 1, 2);
  EXPECT_EQ(supply_.presence(border - page, 2 * page), Presence::kAll);
  EXPECT_EQ(supply_.presence(border - page - 1, 2), Presence::kPart);
  EXPECT_EQ(supply_.presence(run, bytes_of(2)), Presence::kPart);
  EXPECT_EQ(supply_.presence(run, bytes_of(1) - page), Presence::kNone);
  supply_.mark_resident(run, bytes_of(2));
  EXPECT_EQ(supply_.presence(run, bytes_of(2)), Presence::kAll);
  supply_.discard(run, bytes_of(1));
  EXPECT_EQ(supply_.presence(run, bytes_of(2)), Presence::kPart);
  EXPECT_EQ(supply_.presence(run, bytes_of(1)), Presence::kNone);
}

TEST_F(SupplyTest, ResidencyAgreesWithAPageByPageModel) {
  constexpr uint32_t kOrder = 2;
  const size_t page = os::page_bytes();
  const size_t pages = bytes_of(kOrder) / page;
  char* const run = allocate(kOrder);
  enum class Page { kUntouched, kResident, kReturned };
  std::vector<Page> model(pages, Page::kUntouched);
  test::Random random(4);
  for (int i = 0; i < 3000; ++i) {
    const size_t start = random.below(bytes_of(kOrder));
    const size_t bytes = 1 + random.below((bytes_of(kOrder) - start < 5 * page ? bytes_of(kOrder) - start : 5 * page));
    if (random.one_in(2)) {
      supply_.mark_resident(run + start, bytes);
      for (size_t p = start / page; p <= (start + bytes - 1) / page; ++p) model[p] = Page::kResident;
    } else {
      uint64_t expected = 0;
      for (size_t p = (start + page - 1) / page; p < (start + bytes) / page; ++p) {
        if (model[p] != Page::kResident) continue;
        model[p] = Page::kReturned;
        expected += page;
      }
      ASSERT_EQ(supply_.discard(run + start, bytes), expected);
    }
    const ChunkSupply::Residency residency = supply_.residency(run, kOrder);
    ChunkSupply::Residency expected;
    for (const Page state : model) {
      (state == Page::kResident   ? expected.resident
       : state == Page::kReturned ? expected.returned
                                  : expected.untouched) += page;
    }
    ASSERT_EQ(residency.resident, expected.resident);
    ASSERT_EQ(residency.returned, expected.returned);
    ASSERT_EQ(residency.untouched, expected.untouched);
    ASSERT_EQ(residency.resident + residency.returned + residency.untouched, bytes_of(kOrder));
  }
}

// What a child sees that is forked while a thread marks pages stays so for ever.
TEST_F(SupplyTest, ResidencyAddsUpWhileAThreadMarksPages) {
  std::vector<char*> runs(20'000);
  for (char*& run : runs) run = allocate(0);
  std::atomic<size_t> begun = 0;
  std::atomic<bool> done = false;
  std::thread marker([&] {
    for (char* const run : runs) {
      begun.fetch_add(1);
      for (size_t at = 0; at < bytes_of(0); at += os::page_bytes()) supply_.mark_resident(run + at, 1);
    }
    done = true;
  });
  size_t wrong = 0;
  while (begun == 0) std::this_thread::yield();
  while (!done) {
    const ChunkSupply::Residency residency = supply_.residency(runs[begun - 1], 0);
    if (residency.resident + residency.returned + residency.untouched != bytes_of(0)) ++wrong;
  }
  marker.join();
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace hakozuna::mem
