// A forked child has one thread, and the memory of all.
//
// Nothing is registered in this program: each test calls what the front door's handlers would.
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "support/pattern.h"
#include "unit/core/child_process.h"
#include "unit/hz3/line_under_test.h"
#include "unit/sanitizers.h"

namespace hakozuna::hz3 {
namespace {

class ForkTest : public Hz3Test {
 protected:
  void SetUp() override {
    if (test::kThreadSanitizer) GTEST_SKIP() << "it does not follow a forked child of several threads";
  }

  // Runs the function in a child that is forked as the line wants it. It exits with the number of what is wrong.
  template <class Function>
  static void expect_in_child(Function function) {
    Hz3::fork_prepare();
    const test::Ending ending = test::run_in_child([&] {
      alarm(30);  // instead of waiting for a lock for ever
      Hz3::fork_child();
      function();
    });
    Hz3::fork_parent();
    EXPECT_EQ(ending.exit_code, 0) << ending.errors;
    EXPECT_EQ(ending.signal, 0) << ending.errors;
  }

  static void exit_unless(bool condition, int code) {
    if (!condition) _exit(code);
  }
  static bool identity_holds() {
    const hakozuna_statistics s = statistics();
    return s.mapped == s.live + s.cached + s.free_in_spans + s.returned + s.untouched + s.metadata && s.live <= s.mapped &&
           s.free_in_spans <= s.mapped;
  }
  // In a child: everything works, in a thread of its own too.
  static void allocate_and_free() {
    const auto some = [] {
      std::vector<char*> blocks;
      for (size_t i = 0; i < 500; ++i) {
        blocks.push_back(static_cast<char*>(Hz3::allocate(16 + i * 29)));
        std::memset(blocks.back(), 1, 16 + i * 29);
      }
      for (char* block : blocks) Hz3::deallocate(block);
    };
    some();
    std::thread(some).join();
  }
};

TEST_F(ForkTest, TheChildHasOneHeapAndTheBlocksOfAll) {
  Worker first;
  Worker second;
  constexpr size_t kSizes[] = {64, 2048, 12000};
  std::vector<std::vector<char*>> blocks;
  for (const size_t bytes : kSizes) {
    blocks.push_back(first.allocate(bytes, 50));
    blocks.push_back(second.allocate(bytes, 50));
    for (size_t list = blocks.size() - 2; list < blocks.size(); ++list) {
      for (size_t i = 0; i < 50; ++i) test::fill_pattern(blocks[list][i], bytes, list * 100 + i);
    }
  }
  // Nothing in the caches of those who will not be there: it stays allocated in the child.
  first.run([] { Hz3::thread_flush(); });
  second.run([] { Hz3::thread_flush(); });
  char* const mine = static_cast<char*>(Hz3::allocate(77));
  expect_in_child([&] {
    exit_unless(statistics().threads == 1, 1);
    exit_unless(identity_holds(), 2);
    for (size_t list = 0; list < blocks.size(); ++list) {
      for (size_t i = 0; i < 50; ++i) {
        exit_unless(verdict(blocks[list][i]) == Verdict::kValid, 3);
        exit_unless(test::has_pattern(blocks[list][i], kSizes[list / 2], list * 100 + i), 4);
      }
    }
    allocate_and_free();
    for (const std::vector<char*>& list : blocks) {
      for (char* block : list) Hz3::deallocate(block);
    }
    Hz3::deallocate(mine);
    Hz3::trim(0);
    for (const std::vector<char*>& list : blocks) exit_unless(find_span(list[0]) == nullptr, 5);
    exit_unless(core::misuse_count() == misuses_, 7);
    exit_unless(identity_holds(), 8);
    exit_unless(statistics().orphan_spans == 0, 9);
  });
  Hz3::deallocate(mine);
  for (const std::vector<char*>& list : blocks) {
    for (char* block : list) Hz3::deallocate(block);
  }
}

TEST_F(ForkTest, TheForkingThreadsOwnFreesArriveInTheChild) {
  Worker owner;
  Worker other;
  const std::vector<char*> theirs = blocks_in_one_span(owner, 2048, 4);
  std::vector<char*> mine;
  for (int i = 0; i < 4; ++i) mine.push_back(static_cast<char*>(Hz3::allocate(20000)));
  owner.run([] { Hz3::thread_flush(); });
  Hz3::deallocate(theirs[0]);  // in our outbox
  other.run([&] {              // in our stash
    Hz3::deallocate(mine[0]);
    send_all(thread_heap);
  });
  ASSERT_EQ(stash_length(thread_heap), 1u);
  Hz3::deallocate(mine[1]);  // in our bin
  // fork_prepare() sends the first to its owner, whose stash is not there in the child: that block stays allocated.
  expect_in_child([&] {
    exit_unless(verdict(mine[0]) == Verdict::kFreed, 1);
    for (size_t i = 2; i < 4; ++i) Hz3::deallocate(mine[i]);
    for (size_t i = 1; i < 4; ++i) Hz3::deallocate(theirs[i]);
    Hz3::trim(0);
    exit_unless(core::misuse_count() == misuses_, 2);
    exit_unless(!find_span(mine[0]), 3);
    exit_unless(blocks_out(find_span(theirs[1])) == 1, 4);
    exit_unless(identity_holds(), 5);
  });
  for (size_t i = 2; i < 4; ++i) Hz3::deallocate(mine[i]);
  for (size_t i = 1; i < 4; ++i) Hz3::deallocate(theirs[i]);
}

TEST_F(ForkTest, WhatWasInCachesOfOthersStaysAllocatedAndIsNotHandedOut) {
  Worker owner;
  const std::vector<char*> blocks = owner.allocate(500, 20);
  for (char* block : blocks) std::memset(block, 7, 500);
  owner.deallocate(blocks[0]);
  Span* const span = find_span(blocks[0]);
  expect_in_child([&] {
    exit_unless(span->owner.load() == nullptr, 1);
    // Everything the child can get of that class while it has these spans.
    for (int i = 0; i < 2000; ++i) exit_unless(Hz3::allocate(500) != blocks[0], 2);
    exit_unless(identity_holds(), 3);
  });
  for (size_t i = 1; i < blocks.size(); ++i) owner.deallocate(blocks[i]);
}

// The lock of a heap's cache is not among those that are taken before a fork.
TEST_F(ForkTest, ACacheThatWasInUseIsUsableInTheChild) {
  Worker worker;
  Heap* const heap = worker.heap();
  worker.run([heap] {
    Hz3::deallocate(Hz3::allocate(5000));
    Hz3::thread_flush();
    heap->runs.lock().lock();
  });
  expect_in_child([&] {
    std::thread([heap] {
      exit_unless(own_heap() == heap, 1);  // the record is used again
      void* const block = Hz3::allocate(5000);
      exit_unless(block != nullptr, 2);
      Hz3::deallocate(block);
      Hz3::thread_flush();
    }).join();
  });
  worker.run([heap] { heap->runs.lock().unlock(); });
}

TEST_F(ForkTest, RunsInTheCachesOfOthersAreNotLost) {
  Worker worker;
  worker.run([] {
    std::vector<void*> blocks;
    for (int i = 0; i < 200; ++i) blocks.push_back(Hz3::allocate(4096));
    for (void* block : blocks) Hz3::deallocate(block);
    empty_caches(thread_heap);
  });
  ASSERT_GT(worker.heap()->runs.cached_count(), 0u);
  expect_in_child([&] {
    Hz3::trim(0);
    exit_unless(statistics().cached == 0, 1);
    uint32_t used = 0;
    mem::chunk_supply.for_each_run([&](char* record, char*, uint32_t) {
      used += reinterpret_cast<const Span*>(record)->state == SpanState::kNone;
    });
    exit_unless(used == 0, 2);
  });
}

TEST_F(ForkTest, WhileOthersAreBusy) {
  std::atomic<bool> stop{false};
  std::mutex mutex;
  std::vector<void*> shared;
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (unsigned i = t; !stop; ++i) {
        void* const block = Hz3::allocate(16 + i % 40 * 500);
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
        Hz3::deallocate(other);
        if (i % 512 == 0) Hz3::trim(0);
        if (i % 1000 == 0) std::thread([] { Hz3::deallocate(Hz3::allocate(30)); }).join();
      }
    });
  }
  const int forks = test::kSanitizer ? 10 : 60;
  for (int i = 0; i < forks; ++i) {
    Hz3::fork_prepare();
    const pid_t child = fork();
    if (child == 0) {
      alarm(30);
      Hz3::fork_child();
      // Not a vector: a sanitizer's own allocator may have been locked at the fork, and does not mend that.
      char* blocks[500];
      for (size_t k = 0; k < 500; ++k) {
        blocks[k] = static_cast<char*>(Hz3::allocate(16 + k * 29));
        std::memset(blocks[k], 1, 16 + k * 29);
      }
      for (char* block : blocks) Hz3::deallocate(block);
      Hz3::trim(0);
      exit_unless(identity_holds(), 2);
      _exit(statistics().threads == 1 ? 0 : 1);
    }
    Hz3::fork_parent();
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  for (void* block : shared) Hz3::deallocate(block);
}

}  // namespace
}  // namespace hakozuna::hz3
