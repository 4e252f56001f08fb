#include "common/os/lock.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "common/os/thread.h"
#include "unit/core/child_process.h"
#include "unit/sanitizers.h"

namespace hakozuna::os {
namespace {

using namespace std::chrono_literals;

// Waits until the kernel says that the thread sleeps.
void wait_until_asleep(uint32_t thread) {
  const std::string path = "/proc/self/task/" + std::to_string(thread) + "/stat";
  for (;;) {
    std::ifstream file(path);
    std::string text;
    std::getline(file, text);
    const size_t end_of_name = text.rfind(')');
    if (end_of_name != std::string::npos && text[end_of_name + 2] == 'S') return;
    std::this_thread::sleep_for(1ms);
  }
}

TEST(Lock, ExcludesUnderContention) {
  constexpr int kThreads = 8;
  constexpr int kRounds = test::kThreadSanitizer ? 3000 : 30000;
  Lock lock(Rank::kPageMap);
  // Not atomic: lost updates, and ThreadSanitizer, would show two threads inside.
  uint64_t count = 0;
  int inside = 0;
  bool overlap = false;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kRounds; ++i) {
        lock.lock();
        overlap |= ++inside != 1;
        ++count;
        --inside;
        lock.unlock();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, uint64_t{kThreads} * kRounds);
  EXPECT_FALSE(overlap);
}

TEST(Lock, SleepingWaitersAllWake) {
  constexpr int kWaiters = 5;
  Lock lock(Rank::kPageMap);
  std::atomic<uint32_t> ids[kWaiters] = {};
  int served = 0;
  std::vector<std::thread> threads;
  lock.lock();
  for (int t = 0; t < kWaiters; ++t) {
    threads.emplace_back([&, t] {
      ids[t].store(thread_id());
      errno = 77;
      lock.lock();
      EXPECT_EQ(errno, 77) << "waiting preserves errno";
      ++served;
      lock.unlock();
    });
  }
  for (const std::atomic<uint32_t>& id : ids) {
    while (id.load() == 0) std::this_thread::yield();
    wait_until_asleep(id.load());
  }
  EXPECT_EQ(served, 0);
  lock.unlock();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(served, kWaiters);
}

TEST(Lock, IsFreeAgainInAForkedChildThatInheritsWaiters) {
  Lock lock(Rank::kPageMap);
  lock.lock();
  std::atomic<uint32_t> waiter{0};
  std::thread thread([&] {
    waiter.store(thread_id());
    lock.lock();
    lock.unlock();
  });
  while (waiter.load() == 0) std::this_thread::yield();
  wait_until_asleep(waiter.load());
  const test::Ending ending = test::run_in_child([&] {
    alarm(20);  // instead of waiting for ever
    lock.reset_after_fork();
    for (int i = 0; i < 2; ++i) {
      lock.lock();
      lock.unlock();
    }
  });
  EXPECT_EQ(ending.exit_code, 0) << ending.errors;
  lock.unlock();
  thread.join();
}

TEST(Lock, GuardReleasesAtTheEndOfItsScope) {
  Lock lock(Rank::kPageMap);
  const test::Ending ending = test::run_in_child([&lock] {
    alarm(20);  // instead of waiting for ever
    for (int i = 0; i < 2; ++i) const LockGuard guard(lock);
  });
  EXPECT_EQ(ending.exit_code, 0);
}

TEST(Lock, AscendingRanksAreRight) {
  Lock lower(Rank::kOrphans);
  Lock higher(Rank::kMetadata);
  const LockGuard first(lower);
  const LockGuard second(higher);
}

#if defined(HAKOZUNA_CHECKED) && HAKOZUNA_CHECKED
void expect_abort(const test::Ending& ending, const char* message) {
  EXPECT_EQ(ending.signal, SIGABRT);
  EXPECT_NE(ending.errors.find(message), std::string::npos) << ending.errors;
}

TEST(LockRank, DescendingOrEqualRanksAbort) {
  Lock lower(Rank::kOrphans);
  Lock higher(Rank::kMetadata);
  Lock equal(Rank::kMetadata);
  expect_abort(test::run_in_child([&] {
                 higher.lock();
                 lower.lock();
               }),
               "ascending rank");
  expect_abort(test::run_in_child([&] {
                 higher.lock();
                 equal.lock();
               }),
               "ascending rank");
}

TEST(LockRank, ReleaseByAnotherThreadAborts) {
  Lock lock(Rank::kPageMap);
  expect_abort(test::run_in_child([&] { lock.unlock(); }), "released by its holder");
  expect_abort(test::run_in_child([&] { lock.reset_after_fork(); }), "released by its holder");
}

TEST(LockRank, ReleaseForgetsTheRank) {
  Lock lower(Rank::kOrphans);
  Lock higher(Rank::kMetadata);
  higher.lock();
  higher.unlock();
  lower.lock();
  lower.unlock();
}
#endif

}  // namespace
}  // namespace hakozuna::os
