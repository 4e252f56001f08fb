// A burst of a gigabyte is over: the memory goes back to the system within two seconds where any
// thread still allocates now and then, and at once with malloc_trim(0).
#include <gtest/gtest.h>
#include <malloc.h>

#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <thread>

#include "support/line_under_test.h"
#include "support/opaque.h"
#include "support/process.h"
#include "support/random.h"
#include "support/scratch_array.h"

namespace hakozuna::test {
namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr size_t kBurst = 1024 * kMiB;
constexpr size_t kAllowed = 8 * kMiB;
constexpr size_t kPage = 4096;

// Blocks of 16 bytes to 256 KiB, every page of them touched. The list of them is resident from the
// start.
class Burst {
 public:
  Burst() : blocks_(kBurst / 2048) {}

  void allocate() {
    Random random(71);
    size_t total = 0;
    for (count_ = 0; total < kBurst && count_ < blocks_.size(); ++count_) {
      const size_t size = random.size_between(16, 256 << 10);
      auto* block = static_cast<char*>(opaque(std::malloc(size)));
      ASSERT_NE(block, nullptr);
      for (size_t offset = 0; offset < size; offset += kPage) block[offset] = 1;
      block[size - 1] = 1;
      blocks_[count_] = block;
      total += size;
    }
    ASSERT_GE(total, kBurst);
  }

  void free() {
    for (size_t i = 0; i < count_; ++i) std::free(blocks_[i]);
  }

 private:
  ScratchArray<void*> blocks_;
  size_t count_ = 0;
};

// A thread that does what it is told, one thing after another, and sleeps between.
class Worker {
 public:
  Worker() : thread_([this] { serve(); }) {}
  ~Worker() {
    run(nullptr);
    thread_.join();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Returns when it is done; null ends the thread.
  void run(std::function<void()> task) {
    std::unique_lock lock(mutex_);
    task_ = std::move(task);
    busy_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !busy_; });
  }

 private:
  void serve() {
    for (bool ended = false; !ended;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return busy_; });
      if (task_) {
        task_();
      } else {
        ended = true;
      }
      busy_ = false;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> task_;
  bool busy_ = false;
  std::thread thread_;
};

// An allocation every 50 ms, for two seconds or until the memory is back.
size_t resident_after_ticking(size_t target) {
  const double end = seconds_now() + 2;
  while (seconds_now() < end && resident_bytes() > target) {
    std::free(opaque(std::malloc(100)));
    sleep_ms(50);
  }
  return resident_bytes();
}

class MemoryReturn : public ::testing::Test {
 protected:
  void SetUp() override {
    std::free(opaque(std::malloc(100)));
    start_ = resident_bytes();
  }

  void expect_grown() const { ASSERT_GE(resident_bytes(), start_ + kBurst - kAllowed); }
  void expect_back(size_t resident) const {
    EXPECT_LE(resident, start_ + kAllowed) << (resident - start_) / kMiB << " MiB stayed";
    EXPECT_EQ(problem_with_statistics(), "");
  }

  Burst burst_;
  Worker worker_;
  size_t start_ = 0;
};

TEST_F(MemoryReturn, FreedByTheThreadThatMadeIt) {
  burst_.allocate();
  expect_grown();
  burst_.free();
  expect_back(resident_after_ticking(start_ + kAllowed));
}

TEST_F(MemoryReturn, FreedByAnotherThreadAndTheOwnerTicks) {
  worker_.run([this] { burst_.allocate(); });
  expect_grown();
  burst_.free();
  size_t resident = 0;
  worker_.run([&] { resident = resident_after_ticking(start_ + kAllowed); });
  expect_back(resident);
}

TEST_F(MemoryReturn, FreedByAnotherThreadAndTheOwnerSleeps) {
  worker_.run([this] { burst_.allocate(); });
  expect_grown();
  burst_.free();
  expect_back(resident_after_ticking(start_ + kAllowed));
}

TEST_F(MemoryReturn, FreedByItsThreadWhichThenSleeps) {
  worker_.run([this] { burst_.allocate(); });
  expect_grown();
  worker_.run([this] { burst_.free(); });
  expect_back(resident_after_ticking(start_ + kAllowed));
}

TEST_F(MemoryReturn, FreedAfterItsThreadEnded) {
  std::thread([this] { burst_.allocate(); }).join();
  expect_grown();
  burst_.free();
  expect_back(resident_after_ticking(start_ + kAllowed));
}

TEST_F(MemoryReturn, AtOnceWithTrimAfterOwnFrees) {
  burst_.allocate();
  expect_grown();
  burst_.free();
  malloc_trim(0);
  expect_back(resident_bytes());
}

TEST_F(MemoryReturn, AtOnceWithTrimAfterFreesOfAnotherThread) {
  burst_.allocate();
  expect_grown();
  worker_.run([this] { burst_.free(); });
  malloc_trim(0);
  expect_back(resident_bytes());
}

TEST_F(MemoryReturn, AtOnceWithTrimWhileTheOwnerSleeps) {
  worker_.run([this] { burst_.allocate(); });
  expect_grown();
  burst_.free();
  malloc_trim(0);
  expect_back(resident_bytes());
}

// A hole in every page keeps nothing: pages without a live block go back one by one.
TEST_F(MemoryReturn, PagesBetweenLiveBlocksGoBack) {
  REQUIRE_LINE();
  constexpr size_t kBlocks = 100'000;
  ScratchArray<void*> blocks(kBlocks);
  start_ = resident_bytes();
  for (void*& block : blocks) {
    block = opaque(std::malloc(1024));
    ASSERT_NE(block, nullptr);
    static_cast<volatile char*>(block)[0] = 1;
  }
  for (size_t i = 0; i < kBlocks; ++i) {
    if (i % 64 != 0) std::free(blocks[i]);
  }
  malloc_trim(0);
  if (line_name() == "hz8") {
    // One page in sixteen holds a live block.
    EXPECT_LE(resident_bytes(), start_ + 20 * kMiB) << "of 100 MiB";
  }
  for (size_t i = 0; i < kBlocks; i += 64) std::free(blocks[i]);
  EXPECT_EQ(problem_with_statistics(), "");
}

}  // namespace
}  // namespace hakozuna::test
