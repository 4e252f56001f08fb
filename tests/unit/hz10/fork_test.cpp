// A forked child has one thread, and the memory of all.
//
// Nothing is registered in this program: each test calls what the front door's handlers would.
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "support/pattern.h"
#include "unit/core/child_process.h"
#include "unit/hz10/line_under_test.h"
#include "unit/sanitizers.h"

namespace hakozuna::hz10 {
namespace {

class Hz10ForkTest : public Hz10Test {
 protected:
  void SetUp() override {
    if (test::kThreadSanitizer) GTEST_SKIP() << "it does not follow a forked child of several threads";
  }

  // Runs the function in a child that is forked as the line wants it. It exits with the number of what is wrong.
  template <class Function>
  static void expect_in_child(Function function) {
    Hz10::fork_prepare();
    const test::Ending ending = test::run_in_child([&] {
      alarm(30);  // instead of waiting for a lock for ever
      Hz10::fork_child();
      function();
    });
    Hz10::fork_parent();
    EXPECT_EQ(ending.exit_code, 0) << ending.errors;
    EXPECT_EQ(ending.signal, 0) << ending.errors;
  }

  static void exit_unless(bool condition, int code) {
    if (!condition) _exit(code);
  }
};

TEST_F(Hz10ForkTest, TheChildHasOneHeapAndTheBlocksOfAll) {
  Worker first;
  Worker second;
  const size_t sizes[] = {64, 2048, 12000};
  std::vector<std::vector<char*>> blocks;
  for (const size_t bytes : sizes) {
    blocks.push_back(first.allocate(bytes, 50));
    blocks.push_back(second.allocate(bytes, 50));
    for (size_t list = blocks.size() - 2; list < blocks.size(); ++list) {
      for (size_t i = 0; i < 50; ++i) test::fill_pattern(blocks[list][i], bytes, list * 100 + i);
    }
  }
  expect_in_child([&] {
    exit_unless(statistics().threads == 1, 1);
    exit_unless(identity_holds(), 2);
    for (size_t list = 0; list < blocks.size(); ++list) {
      for (size_t i = 0; i < 50; ++i) {
        exit_unless(verdict(blocks[list][i]) == Verdict::kValid, 3);
        exit_unless(test::has_pattern(blocks[list][i], sizes[list / 2], list * 100 + i), 4);
      }
    }
    const auto some = [] {
      std::vector<char*> own;
      for (size_t i = 0; i < 500; ++i) {
        own.push_back(allocate(16 + i * 29));
        std::memset(own.back(), 1, 16 + i * 29);
      }
      deallocate(own);
    };
    some();
    std::thread(some).join();
    for (const std::vector<char*>& list : blocks) deallocate(list);
    Hz10::trim(0);
    exit_unless(core::misuse_count() == misuses_, 5);
    exit_unless(identity_holds(), 6);
  });
  for (const std::vector<char*>& list : blocks) deallocate(list);
}

TEST_F(Hz10ForkTest, WhatWasInTheBinsOfOthersIsNotHandedOut) {
  Worker other;
  other.deallocate(other.allocate(500, 100));
  const uint32_t in_its_bin = count_of(other.heap(), mem::class_of(500));
  ASSERT_GT(in_its_bin, 0u);
  std::vector<char*> held;
  for (uint32_t i = 0; i < in_its_bin; ++i) held.push_back(static_cast<char*>(other.heap()->base[mem::class_of(500)][i]));
  expect_in_child([&] {
    const std::vector<char*> blocks = allocate(500, 5000);
    for (char* block : blocks) {
      for (const char* one : held) exit_unless(block != one, 1);
    }
    deallocate(blocks);
    Hz10::trim(0);
    // They count as live, and no more than they.
    exit_unless(statistics().live == uint64_t{in_its_bin} * 512, 2);
    exit_unless(identity_holds(), 3);
  });
}

// The lock of a heap's cache is not among those that are taken before a fork.
TEST_F(Hz10ForkTest, ACacheThatWasInUseIsUsableInTheChild) {
  Worker worker;
  Heap* const heap = worker.heap();
  worker.run([heap] { heap->runs.lock().lock(); });
  expect_in_child([&] {
    std::thread([heap] {
      exit_unless(Care::own_heap() == heap, 1);  // the record is used again
      void* const block = Hz10::allocate(5000);
      exit_unless(block != nullptr, 2);
      Hz10::deallocate(block);
      Hz10::thread_flush();
    }).join();
  });
  worker.run([heap] { heap->runs.lock().unlock(); });
}

TEST_F(Hz10ForkTest, RunsInTheCachesOfOthersAreNotLost) {
  Worker worker;
  worker.run([] {
    // Empty spans whose runs stay with the heap.
    for (int i = 0; i < 3; ++i) {
      char* const run = thread_heap->runs.take(0, 0);
      mem::chunk_supply.mark_resident(run, mem::kChunkBytes);
      std::memset(run, 1, mem::kChunkBytes);
      thread_heap->runs.put(run, 0, 0);
      thread_heap->runs.take(0, 0);  // and runs that a thread had just taken
    }
  });
  expect_in_child([&] {
    Hz10::trim(0);
    exit_unless(statistics().cached == 0, 1);
    uint32_t lost = 0;
    mem::chunk_supply.for_each_run([&](char* record, char*, uint32_t) { lost += reinterpret_cast<ChunkEntry*>(record)->span() == nullptr; });
    exit_unless(lost == 0, 2);
    exit_unless(identity_holds(), 3);
  });
}

TEST_F(Hz10ForkTest, WhileOthersAreBusy) {
  std::atomic<bool> stop{false};
  std::mutex mutex;
  std::vector<void*> shared;
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (unsigned i = t; !stop; ++i) {
        void* const block = Hz10::allocate(16 + i % 40 * 500);
        void* other = nullptr;
        {
          const std::lock_guard lock(mutex);
          shared.push_back(block);
          if (shared.size() > 200) {
            other = shared[i % shared.size()];
            shared[i % shared.size()] = shared.back();
            shared.pop_back();
          }
        }
        Hz10::deallocate(other);
        if (i % 512 == 0) Hz10::trim(0);
      }
    });
  }
  const int forks = test::kSanitizer ? 10 : 60;
  for (int i = 0; i < forks; ++i) {
    Hz10::fork_prepare();
    const pid_t child = fork();
    if (child == 0) {
      alarm(30);
      Hz10::fork_child();
      // Not a vector: a sanitizer's own allocator may have been locked at the fork, and does not mend that.
      char* blocks[500];
      for (size_t k = 0; k < 500; ++k) {
        blocks[k] = allocate(16 + k * 29);
        std::memset(blocks[k], 1, 16 + k * 29);
      }
      for (char* block : blocks) Hz10::deallocate(block);
      Hz10::trim(0);
      _exit(statistics().threads == 1 && identity_holds() ? 0 : 1);
    }
    Hz10::fork_parent();
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  for (void* block : shared) Hz10::deallocate(block);
}

}  // namespace
}  // namespace hakozuna::hz10
