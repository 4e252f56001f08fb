// The layer os on Windows: what its headers promise, seen through the system's own questions.
#include <gtest/gtest.h>
#include <windows.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "common/base/bits.h"
#include "common/os/os.h"
#include "common/os/thread_local.h"
#include "support/pattern.h"

namespace hakozuna::os {
namespace {

constexpr size_t kBytes = size_t{1} << 20;

MEMORY_BASIC_INFORMATION region_of(const void* address) {
  MEMORY_BASIC_INFORMATION region = {};
  VirtualQuery(address, &region, sizeof region);
  return region;
}

TEST(Memory, PageSizeIsTheSystems) {
  EXPECT_TRUE(is_power_of_two(page_bytes()));
  EXPECT_EQ(page_bytes(), 4096u);
}

TEST(Memory, AlignmentIsKept) {
  for (size_t alignment = page_bytes(); alignment <= size_t{1} << 32; alignment *= 4) {
    for (const size_t bytes : {page_bytes(), 3 * page_bytes(), kBytes}) {
      void* const reserved = reserve(bytes, alignment);
      void* const mapped = map(bytes, alignment);
      ASSERT_NE(reserved, nullptr);
      ASSERT_NE(mapped, nullptr);
      EXPECT_TRUE(is_aligned(reinterpret_cast<uintptr_t>(reserved), alignment));
      EXPECT_TRUE(is_aligned(reinterpret_cast<uintptr_t>(mapped), alignment));
      std::memset(mapped, 1, bytes);
      unmap(reserved, bytes);
      unmap(mapped, bytes);
      EXPECT_EQ(region_of(mapped).State, static_cast<DWORD>(MEM_FREE));
    }
  }
}

TEST(Memory, WhatCannotBeHadIsNullAndLeavesTheLastError) {
  SetLastError(12345);
  EXPECT_EQ(reserve(size_t{1} << 60, page_bytes()), nullptr);
  EXPECT_EQ(map(size_t{1} << 60, page_bytes()), nullptr);
  EXPECT_EQ(map(page_bytes(), size_t{1} << 63), nullptr);
  EXPECT_EQ(reserve(~(page_bytes() - 1), size_t{1} << 63), nullptr);
  EXPECT_EQ(GetLastError(), 12345u);
}

TEST(Memory, ReservedReadableAndCommittedSpace) {
  char* const start = static_cast<char*>(reserve(kBytes, page_bytes()));
  ASSERT_NE(start, nullptr);
  EXPECT_EQ(region_of(start).State, static_cast<DWORD>(MEM_RESERVE));
  ASSERT_TRUE(make_readable(start, kBytes));
  EXPECT_EQ(region_of(start).Protect, static_cast<DWORD>(PAGE_READONLY));
  EXPECT_TRUE(test::is_zero(start, kBytes));
  ASSERT_TRUE(commit(start, kBytes / 2));
  EXPECT_EQ(region_of(start).Protect, static_cast<DWORD>(PAGE_READWRITE)) << "of pages that were readable";
  EXPECT_EQ(region_of(start + kBytes / 2).Protect, static_cast<DWORD>(PAGE_READONLY));
  std::memset(start, 1, kBytes / 2);
  unmap(start, kBytes);
  EXPECT_FALSE(commit(start, kBytes));
}

TEST(Memory, DiscardedPagesReadAsZeroAndTheirNeighboursStay) {
  char* const start = static_cast<char*>(map(kBytes, page_bytes()));
  ASSERT_NE(start, nullptr);
  test::fill_pattern(start, kBytes, 5);
  const size_t part = kBytes / 4;
  discard(start + part, part);
  EXPECT_TRUE(test::is_zero(start + part, part));
  EXPECT_TRUE(test::has_pattern(start, part, 5));
  start[part] = 7;
  EXPECT_EQ(start[part], 7);
  unmap(start, kBytes);
}

TEST(Memory, PhysicalMemoryIsKnown) { EXPECT_GT(physical_memory_bytes(), size_t{64} << 20); }

TEST(Lock, ExcludesUnderContention) {
  constexpr int kThreads = 8;
  constexpr int kRounds = 20000;
  Lock lock(Rank::kPageMap);
  uint64_t count = 0;  // not atomic: an update would be lost if two threads were inside
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kRounds; ++i) {
        const LockGuard guard(lock);
        ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, uint64_t{kThreads} * kRounds);
}

TEST(Lock, SleepingWaitersAllWake) {
  constexpr int kWaiters = 5;
  Lock lock(Rank::kPageMap);
  int served = 0;
  std::vector<std::thread> threads;
  lock.lock();
  for (int t = 0; t < kWaiters; ++t) {
    threads.emplace_back([&] {
      const LockGuard guard(lock);
      ++served;
    });
  }
  sleep_milliseconds(100);
  EXPECT_EQ(served, 0);
  lock.unlock();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(served, kWaiters);
}

void count_call(void* argument) { static_cast<std::atomic<int>*>(argument)->fetch_add(1); }

TEST(ThreadExit, HandlerIsCalledOnceForEachThreadWithItsArgument) {
  constexpr int kThreads = 20;
  std::atomic<int> calls[kThreads] = {};
  std::vector<std::thread> threads;
  for (std::atomic<int>& argument : calls) {
    threads.emplace_back([&argument] { EXPECT_TRUE(call_at_thread_exit(count_call, &argument)); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::atomic<int>& argument : calls) EXPECT_EQ(argument, 1);
}

TEST(Thread, ExistsUntilItHasEnded) {
  std::atomic<uint32_t> id{0};
  std::atomic<bool> stop{false};
  std::thread thread([&] {
    id = thread_id();
    while (!stop) yield();
  });
  while (id == 0) yield();
  SetLastError(4321);
  EXPECT_TRUE(thread_exists(id));
  EXPECT_TRUE(thread_exists(thread_id()));
  EXPECT_EQ(GetLastError(), 4321u);
  stop = true;
  thread.join();
  SetLastError(4321);
  EXPECT_FALSE(thread_exists(id));
  EXPECT_EQ(GetLastError(), 4321u);
}

int initial_object;
constinit HAKOZUNA_THREAD_LOCAL ThreadLocal<int*, &initial_object, struct TestVariableName> test_variable{&initial_object};

TEST(ThreadLocal, EveryThreadHasItsOwnAndBeginsWithTheInitialValue) {
  int mine;
  EXPECT_EQ(test_variable, &initial_object);
  test_variable = &mine;
  std::thread([] {
    EXPECT_EQ(test_variable, &initial_object);
    test_variable = nullptr;
    EXPECT_EQ(test_variable, nullptr);
  }).join();
  EXPECT_EQ(test_variable, &mine);
}

}  // namespace
}  // namespace hakozuna::os
