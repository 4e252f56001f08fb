// Runs: splitting, merging, which goes first, where a region's parts are, limits.
#include "common/mem/chunk_supply.h"
#include "common/mem/budget.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <vector>

#include "support/pattern.h"
#include "support/random.h"
#include "unit/core/child_process.h"
#include "unit/mem/supply_fixture.h"
#include "unit/sanitizers.h"

namespace hakozuna::mem {
namespace {

constexpr size_t kChunksOfABlock = size_t{1} << kMaxRunOrder;

TEST(ChunkSupply, HasNothingBeforeItIsInitialised) {
  const auto supply = std::make_unique<ChunkSupply>();
  EXPECT_EQ(supply->allocate_run(0, kNoLimit), nullptr);
  int on_the_stack = 0;
  for (const void* address : {static_cast<const void*>(nullptr), static_cast<const void*>(&on_the_stack)}) {
    EXPECT_EQ(supply->find_region(address), nullptr);
    EXPECT_FALSE(supply->in_reserved_space(address));
  }
}

TEST_F(SupplyTest, InitialisingAgainChangesNothing) {
  const uint64_t reserved = supply_.totals().reserved;
  EXPECT_GT(reserved, 0u);
  EXPECT_TRUE(supply_.initialise(kLineRecordBytes));
  EXPECT_EQ(supply_.totals().reserved, reserved);
}

TEST_F(SupplyTest, RunsAreAlignedZeroAndApart) {
  std::map<char*, uint32_t> runs;
  for (int i = 0; i < 8; ++i) {
    for (uint32_t order = 0; order <= kMaxRunOrder; ++order) {
      char* const run = allocate(order);
      EXPECT_TRUE(is_aligned(reinterpret_cast<uintptr_t>(run), bytes_of(order)));
      EXPECT_TRUE(test::is_zero(run, bytes_of(order)));
      run[0] = run[bytes_of(order) - 1] = 1;
      runs[run] = order;
    }
  }
  const char* end = nullptr;
  for (const auto& [run, order] : runs) {
    EXPECT_GE(run, end);
    end = run + bytes_of(order);
  }
}

TEST_F(SupplyTest, ARegionKnowsItsRunsAndNotItsRecords) {
  char* const run = allocate(3);
  Region* const region = supply_.find_region(run);
  ASSERT_NE(region, nullptr);
  EXPECT_EQ(supply_.find_region(run + bytes_of(3) - 1), region);
  for (const char* address : {region->base, region->first_run - 1,
                              region->base + region->committed.load(), region->base + region->bytes - 1}) {
    EXPECT_EQ(supply_.find_region(address), nullptr);
    EXPECT_TRUE(supply_.in_reserved_space(address));
  }
  EXPECT_FALSE(supply_.in_reserved_space(region->base - 1));
  EXPECT_FALSE(supply_.in_reserved_space(region->base + region->bytes));
  EXPECT_TRUE(supply_.in_reserved_space(run));
}

TEST_F(SupplyTest, LineRecordsOfTheWholeRegionAreReadableZeros) {
  char* const run = allocate(0);
  Region* const region = supply_.find_region(run);
  const size_t chunks = region->bytes >> kChunkShift;
  for (size_t chunk = 0; chunk < chunks; chunk += chunk < 1000 ? 1 : 997) {
    ASSERT_TRUE(test::is_zero(region->base + chunk * kLineRecordBytes, kLineRecordBytes)) << chunk;
  }
  // That of a run can be written.
  char* const record = region->base + static_cast<size_t>((run - region->base) >> kChunkShift) * kLineRecordBytes;
  record[0] = record[kLineRecordBytes - 1] = 1;
}

TEST_F(SupplyTest, PartsOfABlockComeBackAsOneBlock) {
  test::Random random(1);
  for (uint32_t order = 0; order < kMaxRunOrder; ++order) {
    std::vector<char*> runs;
    for (size_t i = 0; i < kChunksOfABlock >> order; ++i) runs.push_back(allocate(order));
    char* const block = *std::min_element(runs.begin(), runs.end());
    EXPECT_EQ(*std::max_element(runs.begin(), runs.end()), block + bytes_of(kMaxRunOrder) - bytes_of(order))
        << "one block is used up before the next";
    for (size_t i = runs.size(); i > 1; --i) std::swap(runs[i - 1], runs[random.below(i)]);
    for (char* run : runs) release(run, order);
    EXPECT_EQ(allocate(kMaxRunOrder), block);
    release(block, kMaxRunOrder);
  }
}

TEST_F(SupplyTest, ABusyPartKeepsTheRestApart) {
  std::vector<char*> runs;
  for (size_t i = 0; i < kChunksOfABlock; ++i) runs.push_back(allocate(0));
  std::sort(runs.begin(), runs.end());
  char* const busy = runs[11];
  for (char* run : runs) {
    if (run != busy) release(run, 0);
  }
  // 16..31, 0..7, 12..15, 8..9 and 10: one free run of each order.
  for (const auto& [order, index] : std::map<uint32_t, size_t>{{4, 16}, {3, 0}, {2, 12}, {1, 8}, {0, 10}}) {
    EXPECT_EQ(allocate(order), runs[index]) << order;
  }
}

TEST_F(SupplyTest, WarmGoesBeforeColdOfAnyOrder) {
  allocate(0);  // cold runs of every order now exist
  char* const warm = allocate_and_write(4);
  allocate(4);  // its buddy stays in use
  release(warm, 4);
  EXPECT_EQ(allocate(0), warm) << "split from a warm run though there is a cold one that fits";
}

TEST_F(SupplyTest, SplittingKeepsTheWarmerHalf) {
  char* const run = allocate(3);
  allocate(3);
  supply_.mark_resident(run + 5 * kChunkBytes, kChunkBytes);
  release(run, 3);
  EXPECT_EQ(allocate(0), run + 5 * kChunkBytes);
  // The rest is cold: its parts went to the other lists.
  EXPECT_EQ(supply_.totals().free_runs.resident, 0u);
}

TEST_F(SupplyTest, ContentsStayWhileWarm) {
  char* const run = allocate_and_write(0, 42);
  release(run, 0);
  ASSERT_EQ(allocate(0), run);
  EXPECT_EQ(supply_.presence(run, kChunkBytes), ChunkSupply::Presence::kAll);
  EXPECT_EQ(run[0], 42);
}

TEST_F(SupplyTest, EveryUsedRunIsVisitedAndNoOther) {
  test::Random random(2);
  std::map<char*, uint32_t> used;
  for (int i = 0; i < 400; ++i) {
    const auto order = static_cast<uint32_t>(random.below(kMaxRunOrder + 1));
    used[allocate(order)] = order;
    if (i % 3 == 2) {
      auto at = used.begin();
      std::advance(at, random.below(used.size()));
      release(at->first, at->second);
      used.erase(at);
    }
  }
  std::map<char*, uint32_t> visited;
  Region* const region = supply_.find_region(used.begin()->first);
  supply_.for_each_run([&](char* record, char* run, uint32_t order) {
    EXPECT_TRUE(visited.emplace(run, order).second);
    EXPECT_EQ(static_cast<size_t>(record - region->base) / kLineRecordBytes,
              static_cast<size_t>(run - region->base) / kChunkBytes);
  });
  EXPECT_EQ(visited, used);
}

TEST_F(SupplyTest, LimitIsNeverExceeded) {
  // More than the blocks that are committed singly: larger steps must keep to it too.
  // The limit is one for the process: what the other tests have mapped counts.
  const uint64_t before = mapped_total.load() - (supply_.totals().committed_runs + supply_.totals().metadata);
  for (const uint64_t mine : {uint64_t{9} << 20, uint64_t{65} << 20, uint64_t{301} << 20}) {
    const uint64_t limit = before + mine;
    size_t count = 0;
    while (supply_.allocate_run(kMaxRunOrder, limit)) ++count;
    const ChunkSupply::Totals totals = supply_.totals();
    EXPECT_LE(totals.committed_runs + totals.metadata, mine);
    EXPECT_GT(totals.committed_runs + totals.metadata + bytes_of(kMaxRunOrder) * 2, mine) << "but nearly reached";
    EXPECT_EQ(totals.free_runs.untouched, 0u);
    EXPECT_EQ(supply_.allocate_run(0, limit), nullptr);
    EXPECT_GT(count, 0u);
  }
  EXPECT_NE(supply_.allocate_run(0, kNoLimit), nullptr) << "works again when the limit is lifted";
}

TEST_F(SupplyTest, FreeRunsAreUsedAlsoAtTheLimit) {
  char* const run = allocate(2);
  release(run, 2);
  EXPECT_NE(supply_.allocate_run(2, 1), nullptr);
}

// ---- A primary region that is too small --------------------------------------------------------------------------------

size_t address_space_in_use() {
  size_t pages = 0;
  if (FILE* const file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%zu", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return pages * os::page_bytes();
}

// Runs until there are no more; with RLIMIT_AS. Exits with the number of what is wrong.
void outgrow_the_primary_region() {
  const size_t room = size_t{512} << 20;
  const rlim_t allowed = address_space_in_use() + room;
  const rlimit limit = {allowed, RLIM_INFINITY};
  if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(1);
  static ChunkSupply supply;
  if (!supply.initialise(kLineRecordBytes)) _exit(2);
  const uint64_t primary = supply.totals().reserved;
  if (primary * 4 > allowed) _exit(3);

  constexpr size_t kMost = 1024;
  static char* runs[kMost];
  size_t count = 0;
  while (count < kMost && (runs[count] = supply.allocate_run(kMaxRunOrder, kNoLimit)) != nullptr) ++count;
  if (count == kMost || count * (kChunkBytes << kMaxRunOrder) <= primary) _exit(4);
  if (supply.totals().reserved <= primary) _exit(5);
  Region* const first = supply.find_region(runs[0]);
  Region* const last = supply.find_region(runs[count - 1]);
  if (!first || !last || first == last) _exit(6);
  for (size_t i = 0; i < count; ++i) {
    const Region* const region = supply.find_region(runs[i]);
    if (!region || runs[i] < region->first_run) _exit(7);
    if (!supply.in_reserved_space(runs[i])) _exit(8);
    runs[i][0] = 1;
    supply.mark_resident(runs[i], 1);
    if (supply.residency(runs[i], kMaxRunOrder).resident != os::page_bytes()) _exit(9);
  }
  if (supply.find_region(last->base) || supply.find_region(last->base + last->bytes)) _exit(10);
  size_t visited = 0;
  supply.for_each_run([&](char*, char*, uint32_t) { ++visited; });
  if (visited != count) _exit(11);

  for (size_t i = 0; i < count; ++i) supply.release_run(runs[i], kMaxRunOrder, 1, kRetainNothing);
  if (supply.purge(1, 0, kRetainNothing) != count * os::page_bytes()) _exit(12);
  for (size_t i = 0; i < count; ++i) {
    if (!supply.allocate_run(kMaxRunOrder, kNoLimit)) _exit(13);
  }
}

TEST(ChunkSupply, GrowsBeyondTheFirstRegion) {
  if (test::kSanitizer) GTEST_SKIP() << "no limit on the address space under a sanitizer";
  EXPECT_EQ(test::run_in_child(outgrow_the_primary_region).exit_code, 0);
}

}  // namespace
}  // namespace hakozuna::mem
