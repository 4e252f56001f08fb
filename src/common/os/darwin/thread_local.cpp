#include "common/os/darwin/thread_local.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/base/text.h"

namespace hakozuna::os {
namespace {

// Of two threads that race here the loser deletes its own.
pthread_key_t key_of(std::atomic<pthread_key_t>& known, void (*keep)(void*)) {
  pthread_key_t key = known.load(std::memory_order_relaxed);
  if (key != 0) return key;
  pthread_key_t mine;
  if (pthread_key_create(&mine, keep) != 0) {
    write_all(STDERR_FILENO, "hakozuna: the system has no key for thread-specific data left\n");
    abort();
  }
  // relaxed: the key is all there is to know, and the word is null in every thread.
  if (known.compare_exchange_strong(key, mine, std::memory_order_relaxed)) return mine;
  pthread_key_delete(mine);
  return key;
}

}  // namespace

void write_thread_slot(std::atomic<pthread_key_t>& key, void (*keep)(void*), uintptr_t word) {
  pthread_setspecific(key_of(key, keep), reinterpret_cast<void*>(word));
}

}  // namespace hakozuna::os
