// Heaps: one for each thread that allocates or frees, used again, and ended even if their thread gave no notice.
#include "hz10/heaps.h"

#include <pthread.h>
#include <unistd.h>

#include <cerrno>

#include "support/pattern.h"
#include "unit/hz10/line_under_test.h"
#include "unit/sanitizers.h"

namespace hakozuna::hz10 {
namespace {

TEST_F(Hz10Test, ThreadsGetAHeapWithTheirFirstBlock) {
  const hakozuna_statistics before = statistics();
  on_new_thread([&] {
    EXPECT_EQ(thread_heap, &no_heap);
    Hz10::deallocate(nullptr);
    EXPECT_EQ(thread_heap, &no_heap);
    errno = 66;
    void* const block = Hz10::allocate(0);
    EXPECT_EQ(errno, 66);
    EXPECT_NE(block, nullptr);
    EXPECT_NE(thread_heap, &no_heap);
    EXPECT_EQ(statistics().threads, before.threads + 1);
    Hz10::deallocate(block);
  });
  EXPECT_EQ(statistics().threads, before.threads);
  EXPECT_EQ(statistics().threads_total, before.threads_total + 1);
}

TEST_F(Hz10Test, AThreadThatOnlyFreesHasBinsToo) {
  const std::vector<char*> blocks = allocate(300, 500);
  on_new_thread([&] {
    Hz10::deallocate(blocks[0]);
    EXPECT_NE(thread_heap, &no_heap);
    EXPECT_EQ(in_bin(300), 1u);
    for (size_t i = 1; i < blocks.size(); ++i) Hz10::deallocate(blocks[i]);
  });
  EXPECT_EQ(new_misuses(), 0u);
  expect_identity();
}

TEST_F(Hz10Test, HeapsAreUsedAgain) {
  Heap* first = nullptr;
  on_new_thread([&] { first = Care::own_heap(); });
  for (int i = 0; i < 300; ++i) {
    on_new_thread([&] { EXPECT_EQ(Care::own_heap(), first); });
  }
}

TEST_F(Hz10Test, AnEndedHeapHoldsNothing) {
  Worker worker;
  Heap* const heap = worker.heap();
  worker.run([] {
    std::vector<void*> blocks;
    for (size_t i = 0; i < 2000; ++i) blocks.push_back(Hz10::allocate(16 + i * 17));
    for (void* block : blocks) Hz10::deallocate(block);
  });
  worker.end();
  EXPECT_EQ(heap->runs.cached_count(), 0u);
  for (uint32_t c = 0; c < mem::kClassCount; ++c) EXPECT_EQ(count_of(heap, c), 0u);
}

TEST_F(Hz10Test, TheHeapOfNobodyTakesAndGivesNothing) {
  for (const Bin& bin : no_heap.bins) {
    EXPECT_EQ(bin.top, bin.limit);
    EXPECT_EQ(bin.top[-1], nullptr);
  }
  EXPECT_EQ(no_heap.fast_limit, 0u);
}

// Allocates and frees when the last round of thread-specific destructors is on, after which no handler of ours is called any more.
pthread_key_t late_key;
char* late_block = nullptr;
char* freed_late = nullptr;
void allocate_in_the_last_round(void* value) {
  const auto round = reinterpret_cast<uintptr_t>(value);
  if (round < PTHREAD_DESTRUCTOR_ITERATIONS) {
    pthread_setspecific(late_key, reinterpret_cast<void*>(round + 1));
    return;
  }
  EXPECT_EQ(thread_heap, &no_heap);
  Hz10::deallocate(freed_late);
  EXPECT_EQ(thread_heap, &no_heap) << "a late free needs no heap";
  late_block = static_cast<char*>(Hz10::allocate(100));
  test::fill_pattern(late_block, 100, 1);
}

TEST_F(Hz10Test, AHeapMadeAfterTheExitHandlerIsReaped) {
  if (test::kThreadSanitizer) GTEST_SKIP() << "the thread has ended for it before its last destructors run";
  // After our own key, so that its destructor is called after ours in each round.
  ASSERT_EQ(pthread_key_create(&late_key, allocate_in_the_last_round), 0);
  freed_late = allocate(100);
  const uint64_t threads = statistics().threads;
  uint32_t id = 0;
  on_new_thread([&] {
    id = os::thread_id();
    Hz10::deallocate(Hz10::allocate(100));
    pthread_setspecific(late_key, reinterpret_cast<void*>(1));
  });
  pthread_key_delete(late_key);
  ASSERT_NE(late_block, nullptr);
  EXPECT_EQ(statistics().threads, threads + 1) << "its heap was left behind";
  for (int i = 0; os::thread_exists(id) && i < 5000; ++i) usleep(1000);
  Care::reap();
  EXPECT_EQ(statistics().threads, threads);
  EXPECT_EQ(verdict(late_block), Verdict::kValid);
  EXPECT_TRUE(test::has_pattern(late_block, 100, 1));
  Hz10::deallocate(late_block);
  EXPECT_EQ(new_misuses(), 0u);
}

TEST_F(Hz10Test, ThreadsThatComeAndGoLeaveNothingBehind) {
  const auto generation = [] {
    std::vector<std::thread> threads;
    std::vector<char*> blocks[4];
    for (std::vector<char*>& own : blocks) {
      threads.emplace_back([&own] {
        for (size_t i = 0; i < 300; ++i) own.push_back(allocate(16 + i * 37));
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (std::vector<char*>& own : blocks) {
      on_new_thread([&own] { deallocate(own); });
    }
  };
  generation();
  const hakozuna_statistics before = statistics();
  for (int i = 0; i < 40; ++i) generation();
  const hakozuna_statistics after = statistics();
  EXPECT_EQ(after.live, before.live);
  EXPECT_LE(after.metadata, before.metadata + (uint64_t{2} << 20));
  const auto touched = [](const hakozuna_statistics& s) { return s.mapped - s.returned - s.untouched; };
  EXPECT_LE(touched(after), touched(before) + (uint64_t{4} << 20));
  EXPECT_EQ(new_misuses(), 0u);
}

}  // namespace
}  // namespace hakozuna::hz10
