// A forked child has one thread, and the memory of all.
//
// Nothing is registered in this program: each test calls what the front door's handlers would.
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "support/pattern.h"
#include "unit/core/child_process.h"
#include "unit/hz8/line_under_test.h"
#include "unit/sanitizers.h"

namespace hakozuna::hz8 {
namespace {

class ForkTest : public Hz8Test {
 protected:
  void SetUp() override {
    if (test::kThreadSanitizer) GTEST_SKIP() << "it does not follow a forked child of several threads";
  }

  // Runs the function in a child that is forked as the line wants it. It exits with the number of what is wrong.
  template <class Function>
  static void expect_in_child(Function function) {
    Hz8::fork_prepare();
    const test::Ending ending = test::run_in_child([&] {
      alarm(30);  // instead of waiting for a lock for ever
      Hz8::fork_child();
      function();
    });
    Hz8::fork_parent();
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
        blocks.push_back(static_cast<char*>(Hz8::allocate(16 + i * 29)));
        std::memset(blocks.back(), 1, 16 + i * 29);
      }
      for (char* block : blocks) free_and_deliver(block);
    };
    some();
    std::thread(some).join();
  }
};

TEST_F(ForkTest, TokensHeldAtTheForkAreNotLost) {
  Worker owner;
  Worker holder;
  char* const of_main = static_cast<char*>(Hz8::allocate(2048));
  char* const of_owner = static_cast<char*>(owner.allocate(2048));
  char* const held_by_main = static_cast<char*>(owner.allocate(20000));
  holder.deallocate(of_main);
  holder.deallocate(of_owner);
  Hz8::deallocate(held_by_main);
  expect_in_child([&] {
    exit_unless(!thread_heap->held.load() && thread_heap->held_bytes == 0, 1);
    Hz8::trim(0);
    for (const char* block : {of_main, of_owner, held_by_main}) exit_unless(!find_span(block), 2);
    allocate_and_free();
    exit_unless(identity_holds(), 3);
  });
}

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
  char* const mine = static_cast<char*>(Hz8::allocate(77));
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
      for (char* block : list) free_and_deliver(block);
    }
    free_and_deliver(mine);
    Hz8::trim(0);
    exit_unless(statistics().spans < spans, 5);
    exit_unless(statistics().live == 0 || statistics().spans != 0, 6);
    exit_unless(core::misuse_count() == misuses_, 7);
    exit_unless(identity_holds(), 8);
    exit_unless(statistics().orphan_spans == 0, 9);
  });
  free_and_deliver(mine);
  for (const std::vector<char*>& list : blocks) {
    for (char* block : list) free_and_deliver(block);
  }
}

TEST_F(ForkTest, FreesOnTheWayArriveInTheChild) {
  Worker owner;
  Worker other;
  const std::vector<char*> theirs = blocks_in_one_span(owner, 2048, 4);
  std::vector<char*> mine;
  for (int i = 0; i < 4; ++i) mine.push_back(static_cast<char*>(Hz8::allocate(64)));
  free_and_deliver(theirs[0]);  // on the queue of another thread
  other.deallocate(mine[0]);   // on ours
  expect_in_child([&] {
    exit_unless(verdict(theirs[0]) == Verdict::kFreed, 1);
    exit_unless(pending_slots(find_span(theirs[1])) == 0, 2);
    collect_queue(thread_heap, UINT32_MAX);
    exit_unless(pending_slots(find_span(mine[1])) == 0, 3);
    for (size_t i = 1; i < 4; ++i) {
      free_and_deliver(theirs[i]);
      free_and_deliver(mine[i]);
    }
    Hz8::trim(0);
    exit_unless(core::misuse_count() == misuses_, 4);
    exit_unless(!find_span(theirs[0]) && !find_span(mine[0]), 5);
  });
  for (size_t i = 1; i < 4; ++i) {
    free_and_deliver(theirs[i]);
    free_and_deliver(mine[i]);
  }
}

TEST_F(ForkTest, ATokenThatNobodyHoldsAnyMoreIsNotMissed) {
  Worker owner;
  const std::vector<char*> blocks = blocks_in_one_span(owner, 64, 3);
  Span* const span = find_span(blocks[0]);
  // A thread between the two words of remote_free().
  const uint64_t slot = static_cast<uint64_t>(blocks[1] - span->first_slot) / span->slot_bytes;
  span->pending_words[slot / 64].fetch_or(uint64_t{1} << (slot % 64));
  expect_in_child([&] {
    exit_unless(pending_slots(span) == 0, 1);
    exit_unless(verdict(blocks[1]) == Verdict::kFreed, 2);
    free_and_deliver(blocks[0]);
    free_and_deliver(blocks[2]);
    exit_unless(find_span(blocks[0]) == nullptr, 3);
  });
  span->pending_words[slot / 64].store(0);
  for (char* block : blocks) free_and_deliver(block);
}

TEST_F(ForkTest, ALatePushIsNotDeliveredTwice) {
  Worker living;
  void* const its_block = living.allocate(64);
  std::vector<char*> blocks;
  Heap* ended = nullptr;
  {
    Worker owner;
    blocks = blocks_in_one_span(owner, 2048, 3);
    ended = owner.heap();
  }
  Span* const span = find_span(blocks[0]);
  const uint64_t slot = static_cast<uint64_t>(blocks[1] - span->first_slot) / span->slot_bytes;
  span->pending.fetch_or(uint64_t{1} << slot);
  span->queued.store(true);
  span->queue_next = nullptr;
  ended->queue.store(span);
  expect_in_child([&] {
    exit_unless(pending_slots(span) == 0 && !span->queued, 1);
    Care::registry.for_each_ended([](const Heap* heap) { exit_unless(heap->queue.load() == nullptr, 2); });
    free_and_deliver(blocks[0]);
    free_and_deliver(blocks[2]);
    Care::reap();
    exit_unless(find_span(blocks[0]) == nullptr, 3);
  });
  Care::reap();
  free_and_deliver(blocks[0]);
  free_and_deliver(blocks[2]);
  living.deallocate(its_block);
}

// The lock of a heap's cache is not among those that are taken before a fork.
TEST_F(ForkTest, ACacheThatWasInUseIsUsableInTheChild) {
  Worker worker;
  Heap* const heap = worker.heap();
  worker.run([heap] {
    free_and_deliver(Hz8::allocate(5000));
    Hz8::thread_flush();
    heap->runs.lock().lock();
  });
  expect_in_child([&] {
    std::thread([heap] {
      exit_unless(own_heap() == heap, 1);  // the record is used again
      void* const block = Hz8::allocate(5000);
      exit_unless(block != nullptr, 2);
      free_and_deliver(block);
      Hz8::thread_flush();
    }).join();
  });
  worker.run([heap] { heap->runs.lock().unlock(); });
}

TEST_F(ForkTest, RunsInTheCachesOfOthersAreNotLost) {
  Worker worker;
  worker.run([] {
    std::vector<void*> blocks;
    for (int i = 0; i < 200; ++i) blocks.push_back(Hz8::allocate(4096));
    for (void* block : blocks) free_and_deliver(block);
    for (uint32_t c = 0; c < mem::kClassCount; ++c) detach_bin(thread_heap, c);
  });
  ASSERT_GT(worker.heap()->runs.cached_count(), 0u);
  expect_in_child([&] {
    Hz8::trim(0);
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
        void* const block = Hz8::allocate(16 + i % 40 * 500);
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
        free_and_deliver(other);
        if (i % 512 == 0) Hz8::trim(0);
      }
    });
  }
  const int forks = test::kSanitizer ? 10 : 60;
  for (int i = 0; i < forks; ++i) {
    Hz8::fork_prepare();
    const pid_t child = fork();
    if (child == 0) {
      alarm(30);
      Hz8::fork_child();
      // Not a vector: a sanitizer's own allocator may have been locked at the fork, and does not mend that.
      char* blocks[500];
      for (size_t k = 0; k < 500; ++k) {
        blocks[k] = static_cast<char*>(Hz8::allocate(16 + k * 29));
        std::memset(blocks[k], 1, 16 + k * 29);
      }
      for (char* block : blocks) free_and_deliver(block);
      Hz8::trim(0);
      _exit(statistics().threads == 1 ? 0 : 1);
    }
    Hz8::fork_parent();
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  for (void* block : shared) free_and_deliver(block);
}

}  // namespace
}  // namespace hakozuna::hz8
