// Heaps: one for each thread that allocates, used again, and ended even if their thread gave no notice.
#include "hz3/heaps.h"

#include <pthread.h>
#include <unistd.h>

#include <cerrno>

#include "support/pattern.h"
#include "unit/hz3/line_under_test.h"
#include "unit/sanitizers.h"

namespace hakozuna::hz3 {
namespace {

bool serves(const Heap* heap) {
  bool found = false;
  Care::registry.for_each([&](Heap* one) { found |= one == heap; });
  EXPECT_EQ(found, heap->serving.load());
  return found;
}

TEST_F(Hz3Test, ThreadsGetAHeapWithTheirFirstBlock) {
  const hakozuna_statistics before = statistics();
  on_new_thread([&] {
    EXPECT_EQ(thread_heap, &no_heap);
    Hz3::deallocate(nullptr);
    EXPECT_EQ(thread_heap, &no_heap);
    errno = 66;
    void* const block = Hz3::allocate(0);
    EXPECT_EQ(errno, 66);
    EXPECT_NE(block, nullptr);
    EXPECT_NE(thread_heap, &no_heap);
    EXPECT_EQ(statistics().threads, before.threads + 1);
    Hz3::deallocate(block);
  });
  EXPECT_EQ(statistics().threads, before.threads);
  EXPECT_EQ(statistics().threads_total, before.threads_total + 1);
}

TEST_F(Hz3Test, HeapsAreUsedAgain) {
  Heap* first = nullptr;
  on_new_thread([&] { first = own_heap(); });
  for (int i = 0; i < 300; ++i) {
    on_new_thread([&] { EXPECT_EQ(own_heap(), first); });
  }
}

TEST_F(Hz3Test, AllHeapsAreInOneList) {
  Worker first;
  Worker second;
  const Heap* const wanted[] = {thread_heap, first.heap(), second.heap()};
  for (const Heap* const one : wanted) {
    size_t times = 0;
    for_each_heap([&](const Heap* heap) { times += heap == one; });
    EXPECT_EQ(times, 1u);
  }
}

TEST_F(Hz3Test, AnEndedHeapHoldsNothing) {
  Worker other;
  char* const of_another = static_cast<char*>(other.allocate(100));
  Worker worker;
  Heap* const heap = worker.heap();
  EXPECT_TRUE(serves(heap));
  worker.run([of_another] {
    std::vector<void*> blocks;
    for (size_t i = 0; i < 2000; ++i) blocks.push_back(Hz3::allocate(16 + i * 17));
    for (void* block : blocks) Hz3::deallocate(block);
    Hz3::deallocate(of_another);
  });
  EXPECT_EQ(verdict(of_another), Verdict::kValid) << "in an outbox";
  worker.end();
  EXPECT_FALSE(serves(heap));
  EXPECT_EQ(heap->runs.cached_count(), 0u);
  EXPECT_TRUE(heap->full.empty());
  EXPECT_EQ(heap->outbox_bytes, 0u);
  EXPECT_EQ(heap->carried, nullptr);
  for (uint32_t c = 0; c < mem::kClassCount; ++c) {
    EXPECT_TRUE(heap->partial[c].empty());
    EXPECT_EQ(heap->bin(c).head, nullptr);
    EXPECT_EQ(heap->bin(c).count(), 0u);
    EXPECT_EQ(heap->door(c)->thread, 0u) << "its doors are closed";
  }
  EXPECT_EQ(stash_length(other.heap()), 1u) << "what was in the outbox is sent";
}

TEST_F(Hz3Test, DoorsLeadToTheBinsOfTheirThread) {
  for (const size_t bytes : {16, 100, 2048, 5000, 40000, 65536, 300000}) {
    void* const block = Hz3::allocate(bytes);
    Door* const door = door_at(block);
    const uint32_t size_class = mem::class_of(bytes);
    EXPECT_EQ(door, thread_heap->door(size_class));
    EXPECT_EQ(class_of_door(door), size_class);
    EXPECT_EQ(&Bins::behind(door), &thread_heap->bin(size_class));
    EXPECT_EQ(door->thread, arch::thread_pointer());
    Span* const span = find_span(block);
    const size_t run_bytes = span->geometry().run_bytes();
    for (size_t offset = 0; offset < run_bytes; offset += mem::kChunkBytes) {
      EXPECT_EQ(door_at(span->run + offset), door) << "each chunk has it";
      EXPECT_EQ(find_span(span->run + offset), span);
    }
    Hz3::deallocate(block);
    Hz3::thread_flush();
    EXPECT_TRUE(is_closed(door_at(block))) << "no span any more";
  }
}

TEST_F(Hz3Test, NobodyIsBehindTheOtherDoors) {
  int local = 0;
  EXPECT_TRUE(is_closed(door_at(&local)));
  EXPECT_TRUE(is_closed(door_at(nullptr)));
  EXPECT_TRUE(is_closed(door_at(mem::primary_base)));
  EXPECT_TRUE(is_closed(door_at(mem::primary_base + mem::primary_bytes - 1)));
  EXPECT_TRUE(is_closed(door_at(reinterpret_cast<void*>(UINTPTR_MAX))));
  for (uint32_t c = 0; c < mem::kClassCount; ++c) {
    EXPECT_TRUE(is_nobodys(&nobodys_doors[c]));
    EXPECT_EQ(class_of_door(&nobodys_doors[c]), c);
    EXPECT_EQ(nobodys_doors[c].thread, 0u);
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
  late_block = Hz3::allocate(100);
  EXPECT_EQ(door_at(late_block)->heap, thread_heap);
  EXPECT_EQ(door_at(late_block)->thread, 0u) << "another thread may get its thread pointer before it is reaped";
  Hz3::deallocate(late_block);
  EXPECT_EQ(Hz3::allocate(100), late_block) << "and yet it has bins";
  test::fill_pattern(late_block, 100, 1);
}

TEST_F(Hz3Test, AHeapMadeAfterTheExitHandlerIsReaped) {
  if (test::kThreadSanitizer) GTEST_SKIP() << "the thread has ended for it before its last destructors run";
  // After our own key, so that its destructor is called after ours in each round.
  ASSERT_EQ(pthread_key_create(&late_key, allocate_in_the_last_round), 0);
  const uint64_t threads = statistics().threads;
  uint32_t id = 0;
  on_new_thread([&] {
    id = os::thread_id();
    Hz3::deallocate(Hz3::allocate(100));
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
  Hz3::deallocate(late_block);
}

TEST_F(Hz3Test, AHeapOfALivingThreadIsNotReaped) {
  Worker worker;
  Heap* const heap = worker.heap();
  worker.run([&] { Care::registry.expect_no_exit_handler(heap); });
  Care::reap();
  EXPECT_TRUE(serves(heap));
  EXPECT_TRUE(heap->after_exit);
  heap->after_exit = false;
}

}  // namespace
}  // namespace hakozuna::hz3
