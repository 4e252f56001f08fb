// The lock of the slow paths. One word, constant-initialised, sleeps in the kernel when it must wait.
//
// Deadlock is excluded by rank: a thread takes locks in strictly ascending rank only. A checked build verifies it on every lock().
#pragma once

#include <atomic>
#include <cstdint>

#if defined(__APPLE__)
#include <os/lock.h>
#endif

namespace hakozuna::os {

enum class Rank : uint8_t {
  kHeapRegistry = 1,  // the list of thread heaps
  kHeap,              // the spans of one heap, in lines where others may be at them
  kOrphans,           // spans whose thread has ended
  kDepots,            // the spans of a class that all threads share; a lock for each class
  kExchange,          // free blocks between threads
  kRunCache,          // one heap's cache of empty runs
  kLargeBlocks,
  kChunkSupply,
  kPageMap,
  kBitmaps,  // recycled span bitmaps
  kDoors,    // the table of doors, when it grows
  kMetadata,
};

class Lock {
 public:
  constexpr explicit Lock(Rank rank) : rank_(rank) {}
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

  void lock() {
    check_rank_before_lock();
    acquire();
  }

  void unlock() {
    note_unlock();
    release();
  }

  // Locks of one rank, held together by who forks: taken under a lock of lower rank, so that nobody else takes several of them, and before any of a
  // higher one.
  void lock_sibling() {
    lock();
    note_unlock();
  }
  void unlock_sibling() { release(); }
  void reset_sibling_after_fork() { reset(); }

  // In a forked child, where the holder and the waiters are gone: the lock is free again. The forking thread held it.
  void reset_after_fork() {
    note_unlock();
    reset();
  }

 private:
#if defined(__APPLE__)
  // The system's own word: who waits lends the holder its priority, without which a thread of background quality holds up one of the user's.
  // Its functions order memory as acquire() and release() below.
  void acquire() { os_unfair_lock_lock(&word_); }
  void release() { os_unfair_lock_unlock(&word_); }
  void reset() { word_ = OS_UNFAIR_LOCK_INIT; }

  os_unfair_lock word_ = OS_UNFAIR_LOCK_INIT;
#else
  static constexpr uint32_t kFree = 0;
  static constexpr uint32_t kHeld = 1;
  static constexpr uint32_t kHeldWithWaiters = 2;

  void acquire() {
    uint32_t expected = kFree;
    // acquire: pairs with the release in release() of the previous holder.
    if (!word_.compare_exchange_strong(expected, kHeld, std::memory_order_acquire,
                                       std::memory_order_relaxed)) {
      lock_slow();
    }
  }
  void release() {
    // release: what was done under the lock is seen by the next holder.
    if (word_.exchange(kFree, std::memory_order_release) == kHeldWithWaiters) wake();
  }
  void reset() { word_.store(kFree, std::memory_order_relaxed); }  // one thread only: nothing to pair with

  [[gnu::cold, gnu::noinline]] void lock_slow();
  [[gnu::cold, gnu::noinline]] void wake();

  std::atomic<uint32_t> word_{kFree};
#endif

#if defined(HAKOZUNA_CHECKED) && HAKOZUNA_CHECKED
  void check_rank_before_lock();
  void note_unlock();
#else
  void check_rank_before_lock() {}
  void note_unlock() {}
#endif

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
