// The runs a thread keeps to itself, to take and give runs without the supply's lock.
//
// Two kinds. Cached runs were used and became empty lately: warm, to be used again first, and aged like those of the supply. Cold runs have no
// memory: what is left of the block the thread carves from when nothing is warm. A block of its own, and with it a page table of
// its own, keeps a thread's page faults out of the way of other threads'.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/base/racing_read.h"
#include "common/mem/size_classes.h"
#include "common/os/lock.h"

namespace hakozuna::mem {

class RunCache {
 public:
  // The budget bounds what an idle thread can hold back, and with it what a program of many threads pays.
  static constexpr uint32_t kMaxRuns = 16;
  static constexpr size_t kMaxBytes = size_t{1} << 20;

  // A run of 2^order chunks: cached, or warm in the supply, or cold. Null when the system has no memory or the limit is reached. Owner.
  char* take(uint32_t order, uint64_t limit_bytes);

  // Keeps an empty run; what exceeds the budget goes to the supply, oldest first. Owner.
  void put(char* run, uint32_t order, uint64_t retain_bytes);

  // Gives up the cached runs that became free before `before` (ms, low bits). Any thread. Returns whether some stay.
  bool give_up_older(uint32_t before, uint64_t retain_bytes) { return give_up(before, /*all=*/false, retain_bytes); }
  // All of them. Any thread.
  void give_up_cached(uint64_t retain_bytes) { give_up(0, /*all=*/true, retain_bytes); }
  // Owner.
  void give_up_cold(uint64_t retain_bytes);

  // Whether the run is one of these. Owner.
  bool keeps(const char* run) const;

  // A racing look, for whoever might give them up.
  bool has_cached() const { return racing_read(count_) != 0; }
  uint32_t cached_count() const { return count_; }
  size_t cached_bytes() const { return bytes_; }

  // In a forked child, the cache of a thread that is not there: the runs are found by a walk, the lock may be in somebody's hands.
  void forget_after_fork();

  os::Lock& lock() { return lock_; }

 private:
  struct CachedRun {
    char* run;
    uint32_t order;
    uint32_t freed_at;  // ms
  };

  char* take_cached(uint32_t order);
  char* take_cold(uint32_t order, uint64_t limit_bytes);
  bool give_up(uint32_t before, bool all, uint64_t retain_bytes);
  CachedRun remove_oldest();

  os::Lock lock_{os::Rank::kRunCache};  // a purging thread takes old runs
  uint32_t count_ = 0;
  size_t bytes_ = 0;
  CachedRun cached_[kMaxRuns] = {};    // the youngest last
  char* cold_[kMaxRunOrder + 1] = {};  // at most one of each order
};

}  // namespace hakozuna::mem
