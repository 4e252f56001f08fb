// The key of pthread_key_create() is the index of a word in an array at the thread pointer, where pthread_getspecific() reads it too. 0 belongs to
// the system.
#include "common/os/thread_slot.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/base/text.h"

namespace hakozuna::os {
namespace {

// Of two threads that race here the loser deletes its own.
ThreadSlotKey key_of(std::atomic<ThreadSlotKey>& known, void (*keep)(void*)) {
  ThreadSlotKey key = known.load(std::memory_order_relaxed);
  if (key != 0) return key;
  pthread_key_t mine;  // of 512
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

void write_thread_slot(std::atomic<ThreadSlotKey>& key, void (*keep)(void*), uintptr_t word) {
  pthread_setspecific(static_cast<pthread_key_t>(key_of(key, keep)), reinterpret_cast<void*>(word));
}

}  // namespace hakozuna::os
