// mallinfo, mallinfo2, malloc_info, malloc_stats, mallopt, malloc_trim: answers of ours in the
// shape the C library gave them.
#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "support/line_under_test.h"
#include "support/opaque.h"
#include "support/process.h"

namespace hakozuna::test {
namespace {

TEST(Introspection, Mallinfo2FollowsWhatIsAllocated) {
  const struct mallinfo2 before = mallinfo2();
  std::vector<void*> blocks(1000);
  for (void*& block : blocks) block = opaque(std::malloc(10'000));
  const struct mallinfo2 during = mallinfo2();
  for (void* block : blocks) std::free(block);
  const struct mallinfo2 after = mallinfo2();
  EXPECT_GE(during.uordblks, before.uordblks + 10'000'000);
  EXPECT_LE(after.uordblks, before.uordblks + 1'000'000);
  EXPECT_GE(during.arena + during.hblkhd, during.uordblks);
}

TEST(Introspection, Mallinfo2CountsLargeBlocks) {
  const struct mallinfo2 before = mallinfo2();
  void* block = opaque(std::malloc(100'000'000));
  ASSERT_NE(block, nullptr);
  const struct mallinfo2 during = mallinfo2();
  EXPECT_GE(during.hblkhd, before.hblkhd + 100'000'000);
  std::free(block);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
TEST(Introspection, MallinfoIsTheSameInInts) {
  void* block = opaque(std::malloc(5000));
  const struct mallinfo small = mallinfo();
  EXPECT_GT(small.uordblks, 0);
  std::free(block);
}
#pragma GCC diagnostic pop

TEST(Introspection, MallocInfoWritesXml) {
  char* text = nullptr;
  size_t length = 0;
  FILE* stream = open_memstream(&text, &length);
  ASSERT_NE(stream, nullptr);
  EXPECT_EQ(malloc_info(0, stream), 0);
  std::fclose(stream);
  ASSERT_NE(text, nullptr);
  const std::string xml(text, length);
  EXPECT_EQ(xml.rfind("<malloc", 0), 0u) << xml;
  EXPECT_NE(xml.find("</malloc>"), std::string::npos) << xml;
  std::free(text);
}

TEST(Introspection, MallocInfoKnowsNoOptions) {
  FILE* null = std::fopen("/dev/null", "w");
  ASSERT_NE(null, nullptr);
  EXPECT_NE(malloc_info(1, null), 0);
  std::fclose(null);
}

TEST(Introspection, MallocStatsWritesToStandardError) {
  ::testing::internal::CaptureStderr();
  malloc_stats();
  EXPECT_FALSE(::testing::internal::GetCapturedStderr().empty());
}

TEST(Introspection, MalloptAcceptsWhatProgramsSet) {
  EXPECT_EQ(mallopt(M_MMAP_THRESHOLD, 1 << 20), 1);
  EXPECT_EQ(mallopt(M_TRIM_THRESHOLD, 1 << 20), 1);
  EXPECT_EQ(mallopt(M_ARENA_MAX, 2), 1);
  void* block = opaque(std::malloc(100));
  EXPECT_NE(block, nullptr);
  std::free(block);
}

TEST(Introspection, MallocTrimReturnsMemory) {
  const size_t before = resident_bytes();
  std::vector<void*> blocks(2000);
  for (void*& block : blocks) {
    block = opaque(std::calloc(1, 30'000));
    static_cast<volatile char*>(block)[29'999] = 1;
    for (size_t offset = 0; offset < 30'000; offset += 4096) {
      static_cast<volatile char*>(block)[offset] = 1;
    }
  }
  ASSERT_GE(resident_bytes(), before + 50'000'000);
  for (void* block : blocks) std::free(block);
  malloc_trim(0);
  EXPECT_LE(resident_bytes(), before + 4'000'000);
  EXPECT_EQ(malloc_trim(0), 0) << "nothing is left to return";
}

TEST(Introspection, HakozunaTrimKeepsWhatItIsAsked) {
  REQUIRE_LINE();
  std::vector<void*> blocks(2000);
  const auto fill = [&blocks] {
    for (void*& block : blocks) {
      block = opaque(std::malloc(30'000));
      for (size_t offset = 0; offset < 30'000; offset += 4096) {
        static_cast<volatile char*>(block)[offset] = 1;
      }
    }
    for (void* block : blocks) std::free(block);
  };
  fill();
  api().trim(0);
  const size_t bare = resident_bytes();
  fill();
  api().trim(8 << 20);
  EXPECT_LE(resident_bytes(), bare + (12 << 20));
  api().trim(0);
  EXPECT_LE(resident_bytes(), bare + (2 << 20));
  EXPECT_EQ(problem_with_statistics(), "");
}

}  // namespace
}  // namespace hakozuna::test
