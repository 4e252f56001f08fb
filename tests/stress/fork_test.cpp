// fork, vfork and posix_spawn from a process whose threads are inside the allocator.
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "stress/block_set.h"
#include "support/line_under_test.h"
#include "support/opaque.h"
#include "support/pattern.h"
#include "support/process.h"

extern char** environ;

namespace hakozuna::test {
namespace {

// Threads that allocate and free all the time, for as long as it lives. Every page they write after a fork is copied: little memory, or that is all
// there is time for.
class BusyThreads {
 public:
  explicit BusyThreads(size_t count) {
    for (size_t i = 0; i < count; ++i) {
      threads_.emplace_back([this, i] {
        BlockSet blocks({.slots = 300, .max_size = 100'000, .max_total = size_t{256} << 10}, i);
        while (!stop_) failed_ += blocks.step() ? 0 : 1;
      });
    }
  }
  ~BusyThreads() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
    EXPECT_EQ(failed_, 0u);
  }

 private:
  std::atomic<bool> stop_ = false;
  std::atomic<size_t> failed_ = 0;
  std::vector<std::thread> threads_;
};

// What the child does: uses the heap it inherited, then a heap of its own. 0 if all went well.
int child_work(void* inherited, size_t size) {
  if (!has_pattern(inherited, size, 5)) return 10;
  std::free(inherited);
  BlockSet blocks({.slots = 50, .max_size = 50'000, .max_total = size_t{8} << 20}, 9);
  for (int i = 0; i < 60; ++i) {
    if (!blocks.step()) return 11;
  }
  if (!blocks.free_all()) return 12;
  return problem_with_statistics().empty() ? 0 : 13;
}

// A child at its work, which looks at a block of the parent's first.
class Child {
 public:
  explicit Child(int (*work)(void*, size_t)) : block_(opaque(std::malloc(kSize))) {
    fill_pattern(block_, kSize, 5);
    child_ = fork();
    if (child_ == 0) _exit(work(block_, kSize));
  }
  ~Child() {
    EXPECT_GE(child_, 0);
    const int status = wait_for_child(child_, 20);
    EXPECT_NE(status, -1) << "the child hung";
    EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), 0);
    EXPECT_TRUE(has_pattern(block_, kSize, 5)) << "the child changed the parent's block";
    std::free(block_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

 private:
  static constexpr size_t kSize = 3000;
  void* block_;
  pid_t child_ = -1;
};

void expect_child_is_well(int (*work)(void*, size_t)) { const Child child(work); }

TEST(Fork, AgainAndAgainUnderEightAllocatingThreads) {
  {
    BusyThreads busy(8);
    // Several at a time: a child alone waits for the processor most of its time.
    for (int i = 0; i < HAKOZUNA_TEST_FORKS / 5 && !HasFailure(); ++i) {
      const Child first(child_work), second(child_work), third(child_work), fourth(child_work), fifth(child_work);
    }
  }
  EXPECT_EQ(problem_with_statistics(), "");
}

TEST(Fork, TheChildMayStartThreads) {
  BusyThreads busy(4);
  for (int i = 0; i < 50 && !HasFailure(); ++i) {
    expect_child_is_well([](void* inherited, size_t size) {
      int result = 0;
      std::thread([&] { result = child_work(inherited, size); }).join();
      return result;
    });
  }
}

TEST(Fork, TheChildMayFork) {
  BusyThreads busy(4);
  for (int i = 0; i < 50 && !HasFailure(); ++i) {
    expect_child_is_well([](void* inherited, size_t size) {
      const pid_t grandchild = fork();
      if (grandchild == 0) _exit(child_work(inherited, size));
      const int status = wait_for_child(grandchild, 10);
      return status == 0 ? child_work(inherited, size) : 20;
    });
  }
}

// The child frees what threads of the parent allocated that do not exist in it.
TEST(Fork, TheChildFreesBlocksOfThreadsItDoesNotHave) {
  std::vector<void*> blocks(5000);
  std::atomic<bool> filled = false;
  std::atomic<bool> done = false;
  std::thread owner([&] {
    for (void*& block : blocks) block = opaque(std::malloc(250));
    filled = true;
    while (!done) sleep_ms(1);
  });
  while (!filled) sleep_ms(1);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    for (void* block : blocks) std::free(block);
    for (int i = 0; i < 5000; ++i) std::free(opaque(std::malloc(250)));
    _exit(problem_with_statistics().empty() ? 0 : 1);
  }
  EXPECT_EQ(wait_for_child(child, 20), 0);
  done = true;
  owner.join();
  for (void* block : blocks) std::free(block);
}

TEST(Fork, PosixSpawnUnderAllocatingThreads) {
  BusyThreads busy(8);
  const char* const arguments[] = {"/bin/true", nullptr};
  for (int i = 0; i < 200; ++i) {
    pid_t child = 0;
    ASSERT_EQ(posix_spawn(&child, arguments[0], nullptr, nullptr,
                          const_cast<char* const*>(arguments), environ),
              0);
    ASSERT_EQ(wait_for_child(child, 20), 0);
  }
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
TEST(Fork, VforkUnderAllocatingThreads) {
  BusyThreads busy(8);
  const char* const arguments[] = {"/bin/true", nullptr};
  for (int i = 0; i < 200; ++i) {
    const pid_t child = vfork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      execve(arguments[0], const_cast<char* const*>(arguments), environ);
      _exit(127);
    }
    ASSERT_EQ(wait_for_child(child, 20), 0);
  }
}
#pragma GCC diagnostic pop

}  // namespace
}  // namespace hakozuna::test
