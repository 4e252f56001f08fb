// A thread that frees what it is given, while the giver waits: every free of its is a remote one.
#pragma once

#include <pthread.h>
#include <semaphore.h>

#include <cstdlib>

namespace hakozuna::test {

// It allocates nothing by itself, so that the figures of the heap are those of the blocks.
class FreeingThread {
 public:
  FreeingThread() {
    sem_init(&given_, 0, 0);
    sem_init(&freed_, 0, 0);
    if (pthread_create(&thread_, nullptr, serve, this) != 0) std::abort();
    // It has run, and made what the system makes for a thread, before anybody counts.
    free_there(nullptr);
  }
  ~FreeingThread() {
    ended_ = true;
    free_there(nullptr);
    pthread_join(thread_, nullptr);
    sem_destroy(&given_);
    sem_destroy(&freed_);
  }
  FreeingThread(const FreeingThread&) = delete;
  FreeingThread& operator=(const FreeingThread&) = delete;

  // Returns when the block is freed.
  void free_there(void* block) {
    block_ = block;
    sem_post(&given_);
    while (sem_wait(&freed_) != 0) {
    }
  }

 private:
  static void* serve(void* self_pointer) {
    auto& self = *static_cast<FreeingThread*>(self_pointer);
    for (bool ended = false; !ended;) {
      while (sem_wait(&self.given_) != 0) {
      }
      std::free(self.block_);
      ended = self.ended_;
      sem_post(&self.freed_);
    }
    return nullptr;
  }

  sem_t given_;
  sem_t freed_;
  void* block_ = nullptr;
  bool ended_ = false;
  pthread_t thread_;
};

}  // namespace hakozuna::test
