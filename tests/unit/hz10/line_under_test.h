// What the tests of hz10 share: threads that do what they are told and sleep in between, and looks inside.
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
#include "hz10/bins.h"
#include "hz10/depots.h"
#include "hz10/heaps.h"
#include "hz10/hz10.h"
#include "hz10/spans.h"

namespace hakozuna::hz10 {

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

  std::vector<char*> allocate(size_t bytes, size_t count) {
    std::vector<char*> blocks(count);
    run([&] {
      for (char*& block : blocks) block = static_cast<char*>(Hz10::allocate(bytes));
    });
    return blocks;
  }
  void deallocate(const std::vector<char*>& blocks) {
    run([&] {
      for (char* block : blocks) Hz10::deallocate(block);
    });
  }
  Heap* heap() {
    Heap* found = nullptr;
    run([&] { found = Care::own_heap(); });
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

class Hz10Test : public testing::Test {
 protected:
  Hz10Test() {
    core::set_option("ON_ERROR", "ignore");
    // Long: nothing is returned by a timer unless the test says so.
    set_purge_delay(60000);
    core::set_option("RETAIN", "0");
    misuses_ = core::misuse_count();
    Care::own_heap();
  }
  ~Hz10Test() override {
    Hz10::trim(0);
    expect_identity();
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
    Hz10::collect_statistics(s);
    return s;
  }
  static bool identity_holds() {
    const hakozuna_statistics s = statistics();
    // No part has gone below zero.
    for (const uint64_t part : {s.live, s.cached, s.free_in_spans, s.returned, s.untouched}) {
      if (part > s.mapped) return false;
    }
    return s.mapped == s.live + s.cached + s.free_in_spans + s.returned + s.untouched + s.metadata;
  }
  static void expect_identity() { EXPECT_TRUE(identity_holds()); }

  static Verdict verdict(const void* block) { return Hz10::classify(block).verdict; }
  static uint32_t in_bin(size_t bytes) { return count_of(thread_heap, mem::class_of(bytes)); }
  static Depot& depot_of(size_t bytes) { return depots[mem::class_of(bytes)]; }

  static char* allocate(size_t bytes) { return static_cast<char*>(Hz10::allocate(bytes)); }
  static std::vector<char*> allocate(size_t bytes, size_t count) {
    std::vector<char*> blocks(count);
    for (char*& block : blocks) block = allocate(bytes);
    return blocks;
  }
  static void deallocate(const std::vector<char*>& blocks) {
    for (char* block : blocks) Hz10::deallocate(block);
  }

  uint64_t misuses_ = 0;
};

}  // namespace hakozuna::hz10
