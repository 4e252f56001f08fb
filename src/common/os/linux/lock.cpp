#include "common/os/lock.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/arch/arch.h"

namespace hakozuna::os {
namespace {

// Spins before sleeping. The longest common critical section (taking a chunk run) is about 200 ns, some 10 pauses; on a machine
// with fewer cores than threads the holder is often not running and more spinning only wastes its time slice.
constexpr int kSpins = 40;

void futex_wait(std::atomic<uint32_t>* word, uint32_t expected) {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

void futex_wake_one(std::atomic<uint32_t>* word) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

}  // namespace

void Lock::lock_slow() {
  for (int i = 0; i < kSpins; ++i) {
    arch::pause();
    uint32_t expected = kFree;
    if (word_.load(std::memory_order_relaxed) == kFree &&
        word_.compare_exchange_weak(expected, kHeld, std::memory_order_acquire,
                                    std::memory_order_relaxed)) {
      return;
    }
  }
  const int saved_errno = errno;
  // acquire: pairs with release(). Whoever gets the lock here must assume that others sleep.
  while (word_.exchange(kHeldWithWaiters, std::memory_order_acquire) != kFree) {
    futex_wait(&word_, kHeldWithWaiters);
  }
  errno = saved_errno;
}

void Lock::wake() {
  const int saved_errno = errno;
  futex_wake_one(&word_);
  errno = saved_errno;
}

}  // namespace hakozuna::os
