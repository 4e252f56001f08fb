// Statistics: the identity at every quiescent instant, figures that follow what is allocated, and
// the same in each of their faces.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "support/json_check.h"
#include "support/line_under_test.h"
#include "support/opaque.h"
#include "support/random.h"
#include "support/scratch_array.h"

namespace hakozuna::test {
namespace {

class Statistics : public ::testing::Test {
 protected:
  void SetUp() override { REQUIRE_LINE(); }

  static hakozuna_statistics now() {
    hakozuna_statistics s{};
    EXPECT_EQ(api().get_statistics(&s, sizeof s), 0);
    return s;
  }
};

void random_traffic(uint64_t seed, int operations) {
  ScratchArray<void*> blocks(1000);
  Random random(seed);
  for (int i = 0; i < operations; ++i) {
    void*& block = blocks[random.below(blocks.size())];
    std::free(block);
    block = random.one_in(5) ? nullptr : opaque(std::malloc(random.size_between(1, 500'000)));
  }
  for (void* block : blocks) std::free(block);
}

TEST_F(Statistics, IdentityHoldsAtTheStart) { EXPECT_EQ(problem_with_statistics(), ""); }

TEST_F(Statistics, IdentityHoldsAfterTraffic) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    random_traffic(seed, 20'000);
    ASSERT_EQ(problem_with_statistics(), "");
  }
}

TEST_F(Statistics, IdentityHoldsAfterThreadsAndTrim) {
  std::vector<std::thread> threads;
  for (uint64_t seed = 0; seed < 8; ++seed) threads.emplace_back(random_traffic, seed, 20'000);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(problem_with_statistics(), "");
  api().trim(0);
  EXPECT_EQ(problem_with_statistics(), "");
}

TEST_F(Statistics, IdentityHoldsWhileBlocksAreLive) {
  Random random(51);
  ScratchArray<void*> blocks(3000);
  for (void*& block : blocks) block = opaque(std::malloc(random.size_between(1, 100'000)));
  EXPECT_EQ(problem_with_statistics(), "");
  for (size_t i = 0; i < blocks.size(); i += 3) {
    std::free(blocks[i]);
    blocks[i] = nullptr;
  }
  EXPECT_EQ(problem_with_statistics(), "");
  for (void* block : blocks) std::free(block);
  EXPECT_EQ(problem_with_statistics(), "");
}

TEST_F(Statistics, LiveIsTheSumOfTheUsableSizes) {
  Random random(52);
  ScratchArray<void*> blocks(2000);
  const uint64_t before = now().live;
  uint64_t expected = 0;
  for (void*& block : blocks) {
    block = opaque(std::malloc(random.size_between(1, 2'000'000)));
    expected += api().usable_size(block);
  }
  EXPECT_EQ(now().live - before, expected);
  for (void* block : blocks) std::free(block);
  EXPECT_EQ(now().live, before);
}

TEST_F(Statistics, LiveFollowsFreesOfAnotherThread) {
  ScratchArray<void*> blocks(2000);
  // A thread that has run once leaves its traces before the count begins.
  std::thread([] {}).join();
  const uint64_t before = now().live;
  for (void*& block : blocks) block = opaque(std::malloc(300));
  std::thread([&blocks] {
    for (void* block : blocks) std::free(block);
  }).join();
  EXPECT_LE(now().live, before + 4096) << "what the C library keeps of a thread";
  EXPECT_EQ(problem_with_statistics(), "");
}

TEST_F(Statistics, LargeBlocksAreAPartOfLive) {
  const hakozuna_statistics before = now();
  void* block = opaque(std::malloc(50'000'000));
  const hakozuna_statistics during = now();
  EXPECT_EQ(during.large_live - before.large_live, api().usable_size(block));
  EXPECT_EQ(during.live - before.live, api().usable_size(block));
  std::free(block);
  EXPECT_EQ(now().large_live, before.large_live);
}

TEST_F(Statistics, TrimMovesCachedToReturned) {
  random_traffic(53, 20'000);
  api().trim(0);
  const hakozuna_statistics s = now();
  EXPECT_EQ(s.large_cached, 0u);
  EXPECT_LE(s.cached, uint64_t{1} << 20);
  EXPECT_GT(s.purge_calls, 0u);
  EXPECT_GT(s.purged_bytes, 0u);
}

TEST_F(Statistics, CountsThreads) {
  const hakozuna_statistics before = now();
  std::thread([] { std::free(opaque(std::malloc(100))); }).join();
  const hakozuna_statistics after = now();
  EXPECT_EQ(after.threads, before.threads);
  EXPECT_EQ(after.threads_total, before.threads_total + 1);
}

TEST_F(Statistics, StructSizeSaysWhatWasFilled) {
  hakozuna_statistics s{};
  ASSERT_EQ(api().get_statistics(&s, sizeof s), 0);
  EXPECT_EQ(s.struct_size, sizeof s);
  EXPECT_GT(s.mapped, 0u);
  EXPECT_GE(s.reserved, 1u);

  // A caller built against an older header passes a shorter struct.
  hakozuna_statistics shorter{};
  shorter.mapped = 1;
  shorter.live = 2;
  ASSERT_EQ(api().get_statistics(&shorter, offsetof(hakozuna_statistics, live)), 0);
  EXPECT_EQ(shorter.struct_size, offsetof(hakozuna_statistics, live));
  EXPECT_GT(shorter.mapped, 1u);
  EXPECT_EQ(shorter.live, 2u) << "written past the size it was given";
}

TEST_F(Statistics, RejectsNullAndTooSmall) {
  hakozuna_statistics s{};
  EXPECT_EQ(api().get_statistics(nullptr, sizeof s), EINVAL);
  EXPECT_EQ(api().get_statistics(&s, sizeof(size_t) - 1), EINVAL);
  EXPECT_EQ(api().get_statistics(&s, 0), EINVAL);
}

TEST_F(Statistics, ClassesAddUpToLive) {
  random_traffic(54, 5'000);
  std::vector<void*> blocks(500);
  for (void*& block : blocks) block = opaque(std::malloc(1000));
  uint64_t in_classes = 0;
  uint64_t previous_size = 0;
  hakozuna_class_statistics c{};
  size_t index = 0;
  for (; api().get_class_statistics(index, &c) == 0; ++index) {
    EXPECT_GT(c.size, previous_size);
    previous_size = c.size;
    in_classes += c.size * c.live_slots;
    ASSERT_LT(index, 1000u);
  }
  EXPECT_EQ(api().get_class_statistics(index, &c), ERANGE);
  const hakozuna_statistics s = now();
  EXPECT_EQ(in_classes, s.live - s.large_live);
  for (void* block : blocks) std::free(block);
}

TEST_F(Statistics, JsonIsWellFormedAndComplete) {
  const size_t length = api().statistics_json(nullptr, 0);
  ASSERT_GT(length, 100u);
  std::string text(length + 256, '\0');
  const size_t written = api().statistics_json(text.data(), text.size());
  ASSERT_LT(written, text.size());
  text.resize(written);
  EXPECT_EQ(text.find('\0'), std::string::npos);
  EXPECT_EQ(problem_with_json(text), "") << text;
  for (const char* field :
       {"reserved", "mapped", "live", "cached", "free_in_spans", "returned", "untouched",
        "metadata", "large_live", "spans", "threads", "refills", "remote_frees", "purge_calls",
        "foreign_frees", "misuses", "minor_faults"}) {
    EXPECT_NE(text.find('"' + std::string(field) + '"'), std::string::npos) << field;
  }
}

TEST_F(Statistics, JsonThatIsCutIsTerminated) {
  char buffer[32];
  std::fill(std::begin(buffer), std::end(buffer), 'x');
  EXPECT_GE(api().statistics_json(buffer, 16), 16u);
  EXPECT_EQ(buffer[15], '\0');
  EXPECT_EQ(buffer[16], 'x') << "written past the capacity";
}

TEST_F(Statistics, TheTableIsPrinted) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_EQ(api().print_statistics(ends[1]), 0);
  close(ends[1]);
  std::string text(65536, '\0');
  const ssize_t got = read(ends[0], text.data(), text.size());
  close(ends[0]);
  ASSERT_GT(got, 100);
  text.resize(static_cast<size_t>(got));
  EXPECT_NE(text.find(line_name()), std::string::npos);
  EXPECT_NE(text.find("mapped"), std::string::npos);
  EXPECT_NE(api().print_statistics(-1), 0) << "a descriptor nobody opened";
}

}  // namespace
}  // namespace hakozuna::test
