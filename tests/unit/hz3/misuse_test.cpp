// What is seen of misuse, when, and that nothing breaks by what is seen.
#include "unit/hz3/line_under_test.h"

namespace hakozuna::hz3 {
namespace {

class MisuseTest : public Hz3Test, public testing::WithParamInterface<size_t> {
 protected:
  static std::vector<char*> allocate(size_t bytes, size_t count) {
    std::vector<char*> blocks;
    for (size_t i = 0; i < count; ++i) blocks.push_back(static_cast<char*>(Hz3::allocate(bytes)));
    return blocks;
  }
};

TEST_P(MisuseTest, ABlockThatIsBackInItsSpanIsNotFreedAgain) {
  const std::vector<char*> blocks = allocate(GetParam(), 4);
  Hz3::deallocate(blocks[1]);
  Hz3::thread_flush();
  EXPECT_EQ(verdict(blocks[1]), Verdict::kFreed);
  Hz3::deallocate(blocks[1]);
  Hz3::thread_flush();
  EXPECT_EQ(new_misuses(), 1u);
  EXPECT_EQ(verdict(blocks[0]), Verdict::kValid);
  for (const size_t i : {0, 2, 3}) Hz3::deallocate(blocks[i]);
  Hz3::thread_flush();
  EXPECT_EQ(new_misuses(), 0u);
  expect_identity();
}

TEST_P(MisuseTest, OwnerAndAnotherThreadThatFreeTheSameBlockAreSeenWhenItComesBack) {
  const std::vector<char*> blocks = allocate(GetParam(), 4);
  Worker other;
  Hz3::deallocate(blocks[1]);
  Hz3::thread_flush();
  other.run([&] {
    Hz3::deallocate(blocks[1]);
    Hz3::thread_flush();
  });
  Hz3::thread_flush();
  EXPECT_EQ(new_misuses(), 1u);
  for (const size_t i : {0, 2, 3}) Hz3::deallocate(blocks[i]);
  Hz3::thread_flush();
  EXPECT_EQ(new_misuses(), 0u);
  expect_identity();
}

TEST_P(MisuseTest, PointersIntoBlocksAreSeenAtOnceFromOtherThreads) {
  char* const block = allocate(GetParam(), 1)[0];
  Worker other;
  uint64_t expected = 0;
  for (const size_t offset : {size_t{1}, size_t{8}, GetParam() / 2, GetParam() - 1}) {
    other.run([&] { Hz3::deallocate(block + offset); });
    ++expected;
  }
  EXPECT_EQ(new_misuses(), expected);
  EXPECT_EQ(verdict(block), Verdict::kValid);
  Hz3::deallocate(block);
  EXPECT_EQ(new_misuses(), 0u);
}

TEST_P(MisuseTest, PointersIntoBlocksAreSeenFromTheOwnerWhenTheyComeBack) {
  char* const block = allocate(GetParam(), 1)[0];
  Hz3::deallocate(block + GetParam() / 2);
  Hz3::thread_flush();
  EXPECT_EQ(new_misuses(), 1u);
  EXPECT_EQ(verdict(block), Verdict::kValid);
  Hz3::deallocate(block);
  Hz3::thread_flush();
  EXPECT_EQ(new_misuses(), 0u);
  expect_identity();
}

TEST_P(MisuseTest, APointerIntoASpanThatIsGoneIsReportedAtOnce) {
  Worker owner;  // whose only block of the class it is
  char* block = nullptr;
  owner.run([&] {
    block = allocate(GetParam(), 1)[0];
    Hz3::deallocate(block);
    Hz3::thread_flush();
  });
  ASSERT_EQ(find_span(block), nullptr);
  Hz3::deallocate(block);
  EXPECT_EQ(new_misuses(), 1u);
  EXPECT_EQ(verdict(block), Verdict::kMetadata);
}

INSTANTIATE_TEST_SUITE_P(Sizes, MisuseTest, testing::Values(64, 2048, 12000), testing::PrintToStringParamName());

}  // namespace
}  // namespace hakozuna::hz3
