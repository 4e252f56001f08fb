// What is seen of misuse, and that nothing breaks by what is seen.
#include "unit/hz10/line_under_test.h"

namespace hakozuna::hz10 {
namespace {

class MisuseTest : public Hz10Test, public testing::WithParamInterface<size_t> {};

TEST_P(MisuseTest, TheBlockFreedLastIsNotFreedAgain) {
  char* const block = allocate(GetParam());
  Hz10::deallocate(block);
  Hz10::deallocate(block);
  EXPECT_EQ(new_misuses(), 1u);
  char* const first = allocate(GetParam());
  char* const second = allocate(GetParam());
  EXPECT_NE(first, second);
  deallocate({first, second});
}

TEST_P(MisuseTest, ABlockThatIsBackInItsSpanIsNotFreedAgain) {
  const std::vector<char*> blocks = allocate(GetParam(), 4);
  Hz10::deallocate(blocks[1]);
  Hz10::thread_flush();
  bool more = false;
  return_free_pages(0, more);  // empties the stash
  EXPECT_EQ(verdict(blocks[1]), Verdict::kFreed);
  Hz10::deallocate(blocks[1]);  // the bin has no room: the slow path looks
  EXPECT_EQ(new_misuses(), 1u);
  for (const size_t i : {0, 2, 3}) Hz10::deallocate(blocks[i]);
  EXPECT_EQ(new_misuses(), 0u);
}

TEST_P(MisuseTest, TwoThreadsThatFreeTheSameBlockAreSeenWhenItComesBack) {
  const std::vector<char*> blocks = allocate(GetParam(), 4);
  Worker first;
  Worker second;
  first.deallocate({blocks[1]});
  second.deallocate({blocks[1]});
  EXPECT_EQ(new_misuses(), 0u) << "not yet";
  first.run([] { Hz10::thread_flush(); });
  second.run([] { Hz10::thread_flush(); });
  Hz10::trim(0);
  EXPECT_EQ(new_misuses(), 1u);
  expect_identity();
  for (const size_t i : {0, 2, 3}) Hz10::deallocate(blocks[i]);
}

TEST_P(MisuseTest, PointersIntoBlocksAreSeenBySlowPaths) {
  char* const block = allocate(GetParam());
  Hz10::thread_flush();  // no bin has room
  Hz10::deallocate(block + 16);
  EXPECT_EQ(new_misuses(), GetParam() > 16 ? 1u : 0u);
  Hz10::thread_flush();
  Hz10::deallocate(block + 1);
  EXPECT_EQ(new_misuses(), 1u);
  EXPECT_EQ(verdict(block + 1), Verdict::kMisaligned);
  EXPECT_EQ(verdict(block), Verdict::kValid);
  Hz10::deallocate(block);
}

TEST_P(MisuseTest, PointersIntoBlocksThatGotIntoABinAreSeenWhenTheyComeBack) {
  char* const block = allocate(GetParam());
  Hz10::deallocate(allocate(GetParam()));  // the bin has room now
  Hz10::deallocate(block + 16);
  Hz10::thread_flush();
  bool more = false;
  return_free_pages(0, more);
  EXPECT_EQ(new_misuses(), 1u);
  Hz10::deallocate(block);
  Hz10::trim(0);
  EXPECT_EQ(new_misuses(), 0u);
  expect_identity();
}

INSTANTIATE_TEST_SUITE_P(Sizes, MisuseTest, testing::Values(64, 2048, 12000), testing::PrintToStringParamName());

TEST_F(Hz10Test, ThePlaceBehindTheLastSlotIsNoBlock) {
  size_t shifted = 0;
  for (uint32_t c = kShiftedFrom; c < mem::kClassCount; ++c) {
    char* const block = allocate(mem::slot_bytes_of(c));
    const Span* const span = find_span(block);
    char* const behind = span->first_slot + size_t{span->slot_count} * span->slot_bytes;
    if (behind != run_of(span) + run_bytes(span)) {
      ++shifted;
      EXPECT_EQ(verdict(behind), Verdict::kTailSlack);
      Hz10::thread_flush();  // no bin has room: the slow path looks
      Hz10::deallocate(behind);
      EXPECT_EQ(new_misuses(), 1u) << mem::slot_bytes_of(c);
    }
    Hz10::deallocate(block);
  }
  EXPECT_GT(shifted, 20u);
  EXPECT_EQ(new_misuses(), 0u);
}

TEST_F(Hz10Test, PointersThatAreNoBlocksAreReportedAtOnce) {
  char* const block = allocate(2000);
  mem::Region* const region = mem::chunk_supply.find_region(block);
  for (char* const address : {region->base, region->base + 4096, region->first_run - 64, region->base + region->bytes - 16,
                              region->base + region->committed.load() - 16}) {
    EXPECT_EQ(verdict(address), Verdict::kMetadata);
    Hz10::deallocate(address);
    EXPECT_EQ(new_misuses(), 1u);
  }
  Hz10::deallocate(block);
}

TEST_F(Hz10Test, ABlockOfASpanThatIsGoneIsReported) {
  char* const block = allocate(50000);
  Hz10::deallocate(block);
  Hz10::trim(0);
  EXPECT_EQ(verdict(block), Verdict::kMetadata);
  Hz10::deallocate(block);
  EXPECT_EQ(new_misuses(), 1u);
}

TEST_F(Hz10Test, LargeBlocksAreChecked) {
  char* const block = allocate(3 << 20);
  Hz10::deallocate(block + 4096);
  EXPECT_EQ(new_misuses(), 1u);
  Hz10::deallocate(block);
  Hz10::deallocate(block);
  EXPECT_EQ(new_misuses(), 1u);
}

}  // namespace
}  // namespace hakozuna::hz10
