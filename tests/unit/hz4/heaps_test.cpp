// Heaps: one for each thread that allocates or frees, used again, and ended even if their thread gave no notice.
#include <pthread.h>
#include <unistd.h>

#include <cerrno>

#include "support/pattern.h"
#include "unit/hz4/line_under_test.h"
#include "unit/sanitizers.h"

namespace hakozuna::hz4 {
namespace {

bool serves(const Heap* heap) {
  bool found = false;
  Care::registry.for_each([&](Heap* one) { found |= one == heap; });
  return found;
}

TEST_F(Hz4Test, ThreadsGetAHeapWithTheirFirstBlock) {
  const hakozuna_statistics before = statistics();
  on_new_thread([&] {
    EXPECT_EQ(thread_heap, &no_heap);
    Hz4::deallocate(nullptr);
    EXPECT_EQ(thread_heap, &no_heap);
    errno = 66;
    void* const block = Hz4::allocate(0);
    EXPECT_EQ(errno, 66);
    EXPECT_NE(block, nullptr);
    EXPECT_NE(thread_heap, &no_heap);
    EXPECT_EQ(statistics().threads, before.threads + 1);
    Hz4::deallocate(block);
  });
  EXPECT_EQ(statistics().threads, before.threads);
  EXPECT_EQ(statistics().threads_total, before.threads_total + 1);
}

TEST_F(Hz4Test, AThreadThatOnlyFreesHasBinsToo) {
  Worker owner;
  const std::vector<char*> blocks = owner.allocate(64, 1000);
  on_new_thread([&] {
    for (char* block : blocks) Hz4::deallocate(block);
    EXPECT_NE(thread_heap, &no_heap);
    EXPECT_EQ(messages_arrived(owner.heap()), 0u);
  });
  EXPECT_EQ(statistics().live, live_) << "with its end all went home";
  EXPECT_EQ(no_heap.heads[bin_of(mem::class_of(64))], nullptr);
}

TEST_F(Hz4Test, HeapsAreUsedAgain) {
  Heap* first = nullptr;
  on_new_thread([&] { first = own_heap(); });
  for (int i = 0; i < 300; ++i) {
    on_new_thread([&] { EXPECT_EQ(own_heap(), first); });
  }
}

TEST_F(Hz4Test, AnEndedHeapHoldsNothing) {
  Worker worker;
  Heap* const heap = worker.heap();
  worker.run([] {
    std::vector<void*> blocks;
    for (size_t i = 0; i < 2000; ++i) blocks.push_back(Hz4::allocate(16 + i * 170));
    for (void* block : blocks) Hz4::deallocate(block);
  });
  worker.end();
  EXPECT_FALSE(serves(heap));
  EXPECT_EQ(heap->runs.cached_count(), 0u);
  EXPECT_FALSE(heap->has_spans());
  EXPECT_FALSE(HeapKind::has_queued(heap));
  for (uint32_t c = 0; c < mem::kClassCount; ++c) {
    EXPECT_EQ(blocks_in_bins(heap, c), 0u);
    EXPECT_EQ(heap->heads[bin_of(c)], nullptr);
  }
  // One thread is left, which needs no exchange.
  for (uint32_t c = 0; c < mem::kClassCount; ++c) EXPECT_EQ(blocks_on_shelf(c), 0u);
  EXPECT_EQ(statistics().orphan_spans, 0u);
}

// Allocates when the last round of thread-specific destructors is on, after which no handler of ours is called any more.
pthread_key_t late_key;
void* late_block = nullptr;
void allocate_in_the_last_round(void* value) {
  const auto round = reinterpret_cast<uintptr_t>(value);
  if (round < PTHREAD_DESTRUCTOR_ITERATIONS) {
    pthread_setspecific(late_key, reinterpret_cast<void*>(round + 1));
    return;
  }
  late_block = Hz4::allocate(100);
  test::fill_pattern(late_block, 100, 1);
}

TEST_F(Hz4Test, AHeapMadeAfterTheExitHandlerIsReaped) {
  if (test::kThreadSanitizer) GTEST_SKIP() << "the thread has ended for it before its last destructors run";
  ASSERT_EQ(pthread_key_create(&late_key, allocate_in_the_last_round), 0);
  const uint64_t threads = statistics().threads;
  uint32_t id = 0;
  on_new_thread([&] {
    id = os::thread_id();
    Hz4::deallocate(Hz4::allocate(100));
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
  EXPECT_EQ(find_span(late_block)->owner, nullptr);
  Hz4::deallocate(late_block);
}

TEST_F(Hz4Test, ThreadsThatComeAndGoLeaveNothingBehind) {
  const auto generation = [] {
    std::vector<std::thread> threads;
    std::vector<char*> blocks[4];
    for (std::vector<char*>& own : blocks) {
      threads.emplace_back([&own] {
        for (size_t i = 0; i < 300; ++i) own.push_back(static_cast<char*>(Hz4::allocate(16 + i * 37)));
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (std::vector<char*>& own : blocks) {
      on_new_thread([&own] {
        for (char* block : own) Hz4::deallocate(block);
      });
    }
  };
  generation();
  const hakozuna_statistics before = statistics();
  for (int i = 0; i < 40; ++i) generation();
  const hakozuna_statistics after = statistics();
  EXPECT_EQ(after.live, live_);
  EXPECT_LE(after.spans, before.spans + 1);
  EXPECT_LE(after.metadata, before.metadata + (uint64_t{1} << 20));
  const auto touched = [](const hakozuna_statistics& s) { return s.mapped - s.returned - s.untouched; };
  EXPECT_LE(touched(after), touched(before) + (uint64_t{4} << 20));
  EXPECT_EQ(new_misuses(), 0u);
}

}  // namespace
}  // namespace hakozuna::hz4
