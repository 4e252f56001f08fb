// A growing vector of blocks behind a mutex: where threads leave blocks for another thread to free.
// A thread's own list of live blocks is one too, used without its lock.
//
// The vectors come from the allocator under test, as those of a real program would: they are part
// of the workload.
#ifndef BENCH_MATRIX_INBOX_H
#define BENCH_MATRIX_INBOX_H

#include <pthread.h>
#include <stddef.h>

struct Inbox {
  void** blocks;
  size_t count;
  size_t capacity;
  pthread_mutex_t lock;
};

void inbox_init(struct Inbox* inbox, size_t capacity);
void inbox_destroy(struct Inbox* inbox);  // frees the blocks that are left, then the vector

void inbox_append(struct Inbox* inbox, void* block);  // without the lock
void inbox_free_all(struct Inbox* inbox);             // without the lock
void inbox_send(struct Inbox* inbox, void* block);    // under the lock
void inbox_drain(struct Inbox* inbox);                // frees all blocks, under the lock

#endif
