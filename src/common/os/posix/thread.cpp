// The part of os/thread.h that POSIX threads do alike everywhere.
#include "common/os/thread.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>

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

bool start_own_thread(void (*body)()) {
  constexpr size_t kStackBytes = size_t{256} << 10;  // purging takes a few KiB; a page is touched at a time
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // inherited: the program's handlers run on its own threads
  pthread_t thread;
  const int failure = pthread_create(
      &thread, &attributes,
      [](void* argument) -> void* {
        reinterpret_cast<void (*)()>(argument)();
        return nullptr;
      },
      reinterpret_cast<void*>(body));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return failure == 0;
}

void sleep_milliseconds(uint64_t milliseconds) {
  timespec left{static_cast<time_t>(milliseconds / 1000), static_cast<long>(milliseconds % 1000) * 1000000};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

void yield() { sched_yield(); }

}  // namespace hakozuna::os
