// The lock of the slow paths. One word, constant-initialised, sleeps in the kernel when it must wait.
//
// Deadlock is excluded by rank: a thread takes locks in strictly ascending rank only. A checked build verifies it on every lock().
#pragma once

#include <atomic>
#include <cstdint>

namespace hakozuna::os {

enum class Rank : uint8_t {
  kHeapRegistry = 1,  // the list of thread heaps
  kOrphans,           // spans whose thread has ended
  kDepots,            // the spans of a class that all threads share; a lock for each class
  kRunCache,          // one heap's cache of empty runs
  kLargeBlocks,
  kChunkSupply,
  kPageMap,
  kBitmaps,  // recycled span bitmaps
  kMetadata,
};

class Lock {
 public:
  constexpr explicit Lock(Rank rank) : rank_(rank) {}
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

  void lock() {
    check_rank_before_lock();
    uint32_t expected = kFree;
    // acquire: pairs with the release in unlock() of the previous holder.
    if (!word_.compare_exchange_strong(expected, kHeld, std::memory_order_acquire,
                                       std::memory_order_relaxed)) {
      lock_slow();
    }
  }

  void unlock() {
    note_unlock();
    // release: what was done under the lock is seen by the next holder.
    if (word_.exchange(kFree, std::memory_order_release) == kHeldWithWaiters) wake();
  }

  // In a forked child, where the holder and the waiters are gone: the lock is free again. The forking thread held it.
  void reset_after_fork() {
    note_unlock();
    word_.store(kFree, std::memory_order_relaxed);  // one thread only: nothing to pair with
  }

  // Around a fork one thread takes all locks of a rank of which threads otherwise hold one at a time, always in the same order: no cycle can
  // come of it, and it does not count as holding one of that rank.
  void lock_peer() {
    uint32_t expected = kFree;
    // acquire: as in lock().
    if (!word_.compare_exchange_strong(expected, kHeld, std::memory_order_acquire, std::memory_order_relaxed)) lock_slow();
  }
  void unlock_peer() {
    if (word_.exchange(kFree, std::memory_order_release) == kHeldWithWaiters) wake();  // as in unlock()
  }
  void reset_peer_after_fork() { word_.store(kFree, std::memory_order_relaxed); }  // as in reset_after_fork()

 private:
  static constexpr uint32_t kFree = 0;
  static constexpr uint32_t kHeld = 1;
  static constexpr uint32_t kHeldWithWaiters = 2;

  [[gnu::cold, gnu::noinline]] void lock_slow();
  [[gnu::cold, gnu::noinline]] void wake();

#if defined(HAKOZUNA_CHECKED) && HAKOZUNA_CHECKED
  void check_rank_before_lock();
  void note_unlock();
#else
  void check_rank_before_lock() {}
  void note_unlock() {}
#endif

  std::atomic<uint32_t> word_{kFree};
  [[maybe_unused]] const Rank rank_;
};

class LockGuard {
 public:
  explicit LockGuard(Lock& lock) : lock_(lock) { lock_.lock(); }
  ~LockGuard() { lock_.unlock(); }
  LockGuard(const LockGuard&) = delete;
  LockGuard& operator=(const LockGuard&) = delete;

 private:
  Lock& lock_;
};

}  // namespace hakozuna::os
