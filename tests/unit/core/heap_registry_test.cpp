#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "common/core/thread_heap.h"

namespace hakozuna::core {
namespace {

struct SomeHeap : ThreadHeap<SomeHeap> {};

// Runs `work` in a thread and waits until the system knows that thread no more: join() comes a moment before.
template <class Work>
void run_in_a_thread_that_goes(Work work) {
  uint32_t id = 0;
  std::thread([&] {
    id = os::thread_id();
    work();
  }).join();
  while (os::thread_exists(id)) os::yield();
}

// A heap of one that was made after its thread's exit handler, waiting for the next thread; its number is of nobody.
void leave_a_heap_with_a_dead_number(HeapRegistry<SomeHeap>& registry) {
  SomeHeap* heap = nullptr;
  run_in_a_thread_that_goes([&] { heap = registry.take(/*after_exit=*/true); });
  ASSERT_NE(heap, nullptr);
  registry.retire(heap);
}

TEST(HeapRegistryTest, AHeapOfAThreadThatIsGoneIsFound) {
  HeapRegistry<SomeHeap> registry;
  SomeHeap* heap = nullptr;
  run_in_a_thread_that_goes([&] {
    heap = registry.take(/*after_exit=*/true);
    EXPECT_EQ(registry.take_gone(nullptr), nullptr) << "its thread is here";
  });
  EXPECT_EQ(registry.take_gone(nullptr), heap);
  EXPECT_EQ(registry.take_gone(nullptr), nullptr) << "it was handed out";
  registry.retire(heap);
}

TEST(HeapRegistryTest, AHeapThatServesANewThreadIsNotThatOfTheLast) {
  HeapRegistry<SomeHeap> registry;
  leave_a_heap_with_a_dead_number(registry);
  SomeHeap* const heap = registry.take(/*after_exit=*/false);
  EXPECT_EQ(registry.take_gone(nullptr), nullptr);
  registry.retire(heap);
}

TEST(HeapRegistryTest, NorWhileItIsTaken) {
  HeapRegistry<SomeHeap> registry;
  leave_a_heap_with_a_dead_number(registry);
  std::atomic<bool> stop{false};
  std::atomic<int> taken{0};
  std::thread reaper([&] {
    while (!stop.load(std::memory_order_relaxed)) {
      if (registry.take_gone(nullptr)) ++taken;
    }
  });
  for (int round = 0; round < 2000; ++round) {
    SomeHeap* const heap = registry.take(/*after_exit=*/round % 2 == 0);
    registry.retire(heap);
  }
  stop.store(true, std::memory_order_relaxed);
  reaper.join();
  EXPECT_EQ(taken, 0);
}

TEST(HeapRegistryTest, AThreadThatCouldHaveNoExitHandlerIsFoundToo) {
  HeapRegistry<SomeHeap> registry;
  SomeHeap* heap = nullptr;
  run_in_a_thread_that_goes([&] {
    heap = registry.take(/*after_exit=*/false);
    registry.expect_no_exit_handler(heap);
  });
  EXPECT_EQ(registry.take_gone(nullptr), heap);
  registry.retire(heap);
}

}  // namespace
}  // namespace hakozuna::core
