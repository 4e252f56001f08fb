// What the tests of hz3 share: threads that do what they are told and sleep in between, spans looked up by block, short waits.
//
// Nobody but a test allocates from the line in this program, so what a test finds in the process-wide state is what tests did.
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "common/core/diagnostics.h"
#include "common/core/options.h"
#include "hz3/heaps.h"
#include "hz3/hz3.h"
#include "hz3/orphans.h"
#include "hz3/reclaim.h"
#include "hz3/remote.h"
#include "hz3/span_access.h"
#include "hz3/spans.h"

namespace hakozuna::hz3 {

// A thread with a heap of its own. run() does something on it and waits; between two calls the thread sleeps.
class Worker {
 public:
  Worker() : thread_([this] { serve(); }) {}
  ~Worker() { end(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void run(std::function<void()> task) {
    std::unique_lock lock(mutex_);
    task_ = std::move(task);
    changed_.notify_all();
    changed_.wait(lock, [this] { return !task_; });
  }

  // Ends the thread, as a program's thread ends.
  void end() {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
      changed_.notify_all();
    }
    thread_.join();
  }

  void* allocate(size_t bytes) {
    void* block = nullptr;
    run([&] { block = Hz3::allocate(bytes); });
    return block;
  }
  std::vector<char*> allocate(size_t bytes, size_t count) {
    std::vector<char*> blocks(count);
    run([&] {
      for (char*& block : blocks) block = static_cast<char*>(Hz3::allocate(bytes));
    });
    return blocks;
  }
  void deallocate(void* block) {
    run([block] { Hz3::deallocate(block); });
  }
  Heap* heap() {
    Heap* found = nullptr;
    run([&] { found = own_heap(); });
    return found;
  }

 private:
  void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return stop_ || task_; });
      if (!task_) return;
      task_();
      task_ = nullptr;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> task_;
  bool stop_ = false;
  std::thread thread_;
};

// Does something on a thread that has never allocated, and ends it.
template <class Function>
void on_new_thread(Function&& function) {
  std::thread(std::forward<Function>(function)).join();
}

class Hz3Test : public testing::Test {
 protected:
  Hz3Test() {
    core::set_option("ON_ERROR", "ignore");
    // Long: nothing is returned by a timer unless the test says so.
    set_purge_delay(60000);
    core::set_option("RETAIN", "0");
    misuses_ = core::misuse_count();
    own_heap();
    thread_heap->tick_due = 0;  // what an earlier test armed
  }
  ~Hz3Test() override {
    Hz3::trim(0);
    expect_identity();
    EXPECT_EQ(statistics().threads, 1u);
    EXPECT_EQ(statistics().orphan_spans, 0u);
  }

  static void set_purge_delay(unsigned ms) { core::set_option("PURGE_DELAY_MS", std::to_string(ms).c_str()); }

  // How many misuses since the last call.
  uint64_t new_misuses() {
    const uint64_t before = misuses_;
    misuses_ = core::misuse_count();
    return misuses_ - before;
  }

  static hakozuna_statistics statistics() {
    hakozuna_statistics s{};
    Hz3::collect_statistics(s);
    return s;
  }
  static void expect_identity() {
    const hakozuna_statistics s = statistics();
    EXPECT_EQ(s.mapped, s.live + s.cached + s.free_in_spans + s.returned + s.untouched + s.metadata);
    // No part has gone below zero.
    for (const uint64_t part : {s.live, s.cached, s.free_in_spans, s.returned, s.untouched}) EXPECT_LE(part, s.mapped);
  }

  static Verdict verdict(const void* block) { return Hz3::classify(block).verdict; }

  // `count` blocks of the worker in one and the same span.
  static std::vector<char*> blocks_in_one_span(Worker& worker, size_t bytes, size_t count) {
    std::vector<char*> blocks = worker.allocate(bytes, count);
    while (find_span(blocks.front()) != find_span(blocks.back())) {
      worker.deallocate(blocks.front());
      blocks.erase(blocks.begin());
      blocks.push_back(static_cast<char*>(worker.allocate(bytes)));
    }
    return blocks;
  }

  static size_t chain_length(void* block) {
    size_t length = 0;
    for (; block; block = next_of(block)) ++length;
    return length;
  }
  static size_t stash_length(const Heap* heap) { return chain_length(heap->stash.load()); }
  static uint32_t bin_count(Heap* heap, size_t bytes) { return heap->bin(mem::class_of(bytes)).count(); }

  // Blocks out of the span: with the program or cached.
  static uint32_t blocks_out(const Span* span) { return span->geometry().slot_count - span->free_count; }

  uint64_t misuses_ = 0;
};

}  // namespace hakozuna::hz3
