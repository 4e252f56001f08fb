// Heaps: one for each thread that allocates, used again, and ended even if their thread gave no notice.
#include "hz8/heaps.h"

#include <pthread.h>
#include <unistd.h>

#include <cerrno>

#include "support/pattern.h"
#include "unit/hz8/line_under_test.h"
#include "unit/sanitizers.h"

namespace hakozuna::hz8 {
namespace {

bool serves(const Heap* heap) {
  bool found = false;
  Care::registry.for_each([&](Heap* one) { found |= one == heap; });
  return found;
}

TEST_F(Hz8Test, ThreadsGetAHeapWithTheirFirstBlock) {
  const hakozuna_statistics before = statistics();
  on_new_thread([&] {
    EXPECT_EQ(thread_heap, &no_heap);
    free_and_deliver(nullptr);
    EXPECT_EQ(thread_heap, &no_heap);
    errno = 66;
    void* const block = Hz8::allocate(0);
    EXPECT_EQ(errno, 66);
    EXPECT_NE(block, nullptr);
    EXPECT_NE(thread_heap, &no_heap);
    EXPECT_EQ(statistics().threads, before.threads + 1);
    free_and_deliver(block);
  });
  EXPECT_EQ(statistics().threads, before.threads);
  EXPECT_EQ(statistics().threads_total, before.threads_total + 1);
}

TEST_F(Hz8Test, HeapsAreUsedAgain) {
  Heap* first = nullptr;
  on_new_thread([&] { first = own_heap(); });
  for (int i = 0; i < 300; ++i) {
    on_new_thread([&] { EXPECT_EQ(own_heap(), first); });
  }
}

TEST_F(Hz8Test, AnEndedHeapHoldsNothing) {
  Worker worker;
  Heap* const heap = worker.heap();
  worker.run([] {
    std::vector<void*> blocks;
    for (size_t i = 0; i < 2000; ++i) blocks.push_back(Hz8::allocate(16 + i * 17));
    for (void* block : blocks) free_and_deliver(block);
  });
  worker.end();
  EXPECT_FALSE(serves(heap));
  EXPECT_EQ(heap->runs.cached_count(), 0u);
  EXPECT_EQ(heap->runs.cached_bytes(), 0u);
  EXPECT_TRUE(heap->full.empty());
  for (uint32_t c = 0; c < mem::kClassCount; ++c) {
    EXPECT_TRUE(heap->partial[c].empty());
    EXPECT_EQ(heap->bins[c].span, nullptr);
  }
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
  late_block = Hz8::allocate(100);
  test::fill_pattern(late_block, 100, 1);
}

TEST_F(Hz8Test, AHeapMadeAfterTheExitHandlerIsReaped) {
  if (test::kThreadSanitizer) GTEST_SKIP() << "the thread has ended for it before its last destructors run";
  // After our own key, so that its destructor is called after ours in each round.
  ASSERT_EQ(pthread_key_create(&late_key, allocate_in_the_last_round), 0);
  const uint64_t threads = statistics().threads;
  uint32_t id = 0;
  on_new_thread([&] {
    id = os::thread_id();
    free_and_deliver(Hz8::allocate(100));
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
  free_and_deliver(late_block);
}

TEST_F(Hz8Test, AHeapOfALivingThreadIsNotReaped) {
  Worker worker;
  Heap* const heap = worker.heap();
  worker.run([&] { Care::registry.expect_no_exit_handler(heap); });
  Care::reap();
  EXPECT_TRUE(serves(heap));
  EXPECT_TRUE(heap->after_exit);
  heap->after_exit = false;
}

}  // namespace
}  // namespace hakozuna::hz8
