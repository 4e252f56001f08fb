// A forked child has one thread, and the memory of all.
//
// Nothing is registered in this program: each test calls what the front door's handlers would.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "support/pattern.h"
#include "unit/core/child_process.h"
#include "unit/hz4/line_under_test.h"
#include "unit/sanitizers.h"

namespace hakozuna::hz4 {
namespace {

class ForkTest : public Hz4Test {
 protected:
  void SetUp() override {
    if (test::kThreadSanitizer) GTEST_SKIP() << "it does not follow a forked child of several threads";
  }

  // Runs the function in a child that is forked as the line wants it. It exits with the number of what is wrong.
  template <class Function>
  static void expect_in_child(Function function) {
    Hz4::fork_prepare();
    const test::Ending ending = test::run_in_child([&] {
      alarm(30);  // instead of waiting for a lock for ever
      Hz4::fork_child();
      function();
    });
    Hz4::fork_parent();
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
        blocks.push_back(static_cast<char*>(Hz4::allocate(16 + i * 29)));
        std::memset(blocks.back(), 1, 16 + i * 29);
      }
      for (char* block : blocks) Hz4::deallocate(block);
    };
    some();
    std::thread(some).join();
  }
};

TEST_F(ForkTest, TheChildHasOneHeapAndTheBlocksOfAll) {
  Worker first;
  Worker second;
  std::vector<std::vector<char*>> blocks;
  for (const size_t bytes : {64, 2048, 12000}) {
    blocks.push_back(first.allocate(bytes, 50));
    blocks.push_back(second.allocate(bytes, 50));
    for (size_t list = blocks.size() - 2; list < blocks.size(); ++list) {
      for (size_t i = 0; i < 50; ++i) test::fill_pattern(blocks[list][i], bytes, list * 100 + i);
    }
  }
  char* const mine = static_cast<char*>(Hz4::allocate(77));
  expect_in_child([&] {
    exit_unless(statistics().threads == 1, 1);
    exit_unless(identity_holds(), 2);
    const size_t sizes[] = {64, 2048, 12000};
    for (size_t list = 0; list < blocks.size(); ++list) {
      for (size_t i = 0; i < 50; ++i) {
        exit_unless(verdict(blocks[list][i]) == Verdict::kValid, 3);
        exit_unless(test::has_pattern(blocks[list][i], sizes[list / 2], list * 100 + i), 4);
      }
    }
    allocate_and_free();
    const uint64_t spans = statistics().spans;
    for (const std::vector<char*>& list : blocks) {
      for (char* block : list) Hz4::deallocate(block);
    }
    Hz4::deallocate(mine);
    Hz4::trim(0);
    exit_unless(statistics().spans < spans, 5);
    exit_unless(statistics().live == 0 || statistics().spans != 0, 6);
    exit_unless(core::misuse_count() == misuses_, 7);
    exit_unless(identity_holds(), 8);
  });
  Hz4::deallocate(mine);
  for (const std::vector<char*>& list : blocks) {
    for (char* block : list) Hz4::deallocate(block);
  }
}

// What threads that are not there had in their bins and messages is lost to the child, and nothing else.
TEST_F(ForkTest, BlocksBetweenThreadsAreLostToTheChildOnly) {
  Worker owner;
  const std::vector<char*> theirs = blocks_in_one_span(owner, 2048, 4);
  send_home_at_once(theirs[0]);  // a message
  owner.deallocate(theirs[1]);   // in the bin of another thread
  const uint64_t live = statistics().live;
  expect_in_child([&] {
    exit_unless(lost_blocks(mem::class_of(2048)) >= 2, 1);
    exit_unless(statistics().live == live, 2);
    exit_unless(find_span(theirs[2])->owner == nullptr, 3);
    char* const block = static_cast<char*>(Hz4::allocate(2048));
    exit_unless(block != theirs[0] && block != theirs[1], 4);
    Hz4::deallocate(block);
    Hz4::deallocate(theirs[2]);
    Hz4::deallocate(theirs[3]);
    Hz4::trim(0);
    exit_unless(core::misuse_count() == misuses_, 5);
    exit_unless(identity_holds(), 6);
    exit_unless(find_span(theirs[0]) != nullptr, 7);
  });
  EXPECT_EQ(lost_blocks(mem::class_of(2048)), 0u);
  Hz4::deallocate(theirs[2]);
  Hz4::deallocate(theirs[3]);
}

TEST_F(ForkTest, TheExchangeIsWholeInTheChild) {
  Worker worker;
  constexpr size_t kMessageBytes = 1000;
  const uint32_t c = mem::class_of(kMessageBytes);
  const std::vector<char*> blocks = worker.allocate(kMessageBytes, 20 * batch_of(c));
  worker.run([&] {
    for (char* block : blocks) Hz4::deallocate(block);
  });
  ASSERT_GT(blocks_on_shelf(c), 0u);
  expect_in_child([&] {
    const uint64_t spans = statistics().spans;
    const uint64_t count = blocks_on_shelf(c);
    for (uint64_t i = 0; i < count; ++i) Hz4::allocate(kMessageBytes);
    exit_unless(statistics().spans == spans, 1);
    exit_unless(identity_holds(), 2);
  });
}

// The lock of a heap's cache is not among those that are taken before a fork.
TEST_F(ForkTest, ACacheThatWasInUseIsUsableInTheChild) {
  Worker worker;
  Heap* const heap = worker.heap();
  worker.run([heap] {
    Hz4::deallocate(Hz4::allocate(5000));
    Hz4::thread_flush();
    heap->runs.lock().lock();
  });
  expect_in_child([&] {
    std::thread([heap] {
      exit_unless(own_heap() == heap, 1);  // the record is used again
      void* const block = Hz4::allocate(5000);
      exit_unless(block != nullptr, 2);
      Hz4::deallocate(block);
      Hz4::thread_flush();
    }).join();
  });
  worker.run([heap] { heap->runs.lock().unlock(); });
}

TEST_F(ForkTest, RunsInTheCachesOfOthersAreNotLost) {
  Worker worker;
  worker.run([] {
    std::vector<void*> blocks;
    for (int i = 0; i < 200; ++i) blocks.push_back(Hz4::allocate(4096));
    for (void* block : blocks) Hz4::deallocate(block);
    empty_bins(thread_heap);
    empty_exchange(thread_heap);
  });
  ASSERT_GT(worker.heap()->runs.cached_count(), 0u);
  expect_in_child([&] {
    Hz4::trim(0);
    exit_unless(statistics().cached == 0, 1);
    uint32_t used = 0;
    mem::chunk_supply.for_each_run([&](char* record, char*, uint32_t) {
      used += reinterpret_cast<const Span*>(record)->bin == 0;
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
        void* const block = Hz4::allocate(16 + i % 40 * 500);
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
        Hz4::deallocate(other);
        if (i % 512 == 0) Hz4::trim(0);
      }
    });
  }
  const int forks = test::kSanitizer ? 10 : 60;
  for (int i = 0; i < forks; ++i) {
    Hz4::fork_prepare();
    const pid_t child = fork();
    if (child == 0) {
      alarm(30);
      Hz4::fork_child();
      // Not a vector: a sanitizer's own allocator may have been locked at the fork, and does not mend that.
      char* blocks[500];
      for (size_t k = 0; k < 500; ++k) {
        blocks[k] = static_cast<char*>(Hz4::allocate(16 + k * 29));
        std::memset(blocks[k], 1, 16 + k * 29);
      }
      for (char* block : blocks) Hz4::deallocate(block);
      Hz4::trim(0);
      _exit(statistics().threads == 1 ? 0 : 1);
    }
    Hz4::fork_parent();
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  for (void* block : shared) Hz4::deallocate(block);
}

TEST_F(ForkTest, AHandlerOfMisuseMayFork) {
  char* const block = static_cast<char*>(Hz4::allocate(640));
  char* const other = static_cast<char*>(Hz4::allocate(640));  // leaves room in the bin
  expect_in_child([&] {
    signal(SIGABRT, [](int) {
      Hz4::fork_prepare();  // takes every lock
      _exit(0);
    });
    core::set_option("ON_ERROR", "abort");
    Hz4::deallocate(block + 32);
    Hz4::thread_flush();  // the span, whose lock is held, does not take it
    exit_unless(false, 1);
  });
  Hz4::deallocate(block);
  Hz4::deallocate(other);
}

}  // namespace
}  // namespace hakozuna::hz4
