#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "common/core/thread_heap.h"

namespace hakozuna::core {
namespace {

struct SomeHeap : ThreadHeap<SomeHeap> {};

// A heap of one that was made after its thread's exit handler, waiting for the next thread; its number is of nobody.
void leave_a_heap_with_a_dead_number(HeapRegistry<SomeHeap>& registry) {
  SomeHeap* heap = nullptr;
  std::thread([&] { heap = registry.take(/*after_exit=*/true); }).join();
  ASSERT_NE(heap, nullptr);
  registry.retire(heap);
}

TEST(HeapRegistryTest, AHeapOfAThreadThatIsGoneIsFound) {
  HeapRegistry<SomeHeap> registry;
  SomeHeap* heap = nullptr;
  std::thread([&] {
    heap = registry.take(/*after_exit=*/true);
    EXPECT_EQ(registry.take_gone(nullptr), nullptr) << "its thread is here";
  }).join();
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
  std::thread([&] {
    heap = registry.take(/*after_exit=*/false);
    registry.expect_no_exit_handler(heap);
  }).join();
  EXPECT_EQ(registry.take_gone(nullptr), heap);
  registry.retire(heap);
}

}  // namespace
}  // namespace hakozuna::core
