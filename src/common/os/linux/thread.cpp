#include "common/os/thread.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

namespace hakozuna::os {
namespace {

constexpr uint64_t kNoKey = 0;  // otherwise: key + 1
std::atomic<uint64_t> exit_key{kNoKey};

// Creates the key once; of two threads that race here the loser deletes its own.
uint64_t key_or_none(void (*handler)(void*)) {
  uint64_t known = exit_key.load(std::memory_order_acquire);  // pairs with the release below
  if (known != kNoKey) return known;
  pthread_key_t key;
  if (pthread_key_create(&key, handler) != 0) return kNoKey;
  const uint64_t mine = uint64_t{key} + 1;
  if (exit_key.compare_exchange_strong(known, mine, std::memory_order_acq_rel)) return mine;
  pthread_key_delete(key);
  return known;
}

}  // namespace

bool call_at_thread_exit(void (*handler)(void*), void* argument) {
  const int saved_errno = errno;
  const uint64_t key = key_or_none(handler);
  const bool done =
      key != kNoKey && pthread_setspecific(static_cast<pthread_key_t>(key - 1), argument) == 0;
  errno = saved_errno;
  return done;
}

uint32_t thread_id() { return static_cast<uint32_t>(syscall(SYS_gettid)); }

bool thread_exists(uint32_t thread_id) {
  const int saved_errno = errno;
  const bool gone = syscall(SYS_tgkill, getpid(), thread_id, 0) != 0 && errno == ESRCH;
  errno = saved_errno;
  return !gone;
}

void yield() { sched_yield(); }

}  // namespace hakozuna::os
