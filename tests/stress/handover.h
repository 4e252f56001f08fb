// A bounded queue of blocks from one thread to another. It lies outside the heap under test.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "support/scratch_array.h"

namespace hakozuna::test {

struct Parcel {
  void* block;
  size_t size;
  uint64_t seed;
};

class Handover {
 public:
  explicit Handover(size_t capacity) : ring_(capacity) {}

  void put(const Parcel& parcel) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return count_ < ring_.size(); });
    ring_[(first_ + count_++) % ring_.size()] = parcel;
    changed_.notify_all();
  }

  // No more will be put.
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

  // False when it is closed and empty.
  bool take(Parcel& parcel) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return count_ > 0 || closed_; });
    if (count_ == 0) return false;
    parcel = ring_[first_];
    first_ = (first_ + 1) % ring_.size();
    --count_;
    changed_.notify_all();
    return true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  ScratchArray<Parcel> ring_;
  size_t first_ = 0;
  size_t count_ = 0;
  bool closed_ = false;
};

}  // namespace hakozuna::test
