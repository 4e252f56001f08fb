#include "workload.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "fail.h"
#include "inbox.h"
#include "process_status.h"
#include "support/random.h"

enum {
  kInitialCapacity = 1024,  // blocks
  kDrainInterval = 32,      // iterations between two looks into the inbox
  kTickCount = 64,          // allocations after everything is freed
};

struct Run {
  const struct Options* options;
  struct Inbox* inboxes;
  pthread_barrier_t barrier;
};

struct Worker {
  struct Run* run;
  uint64_t index;
  uint64_t random;
  struct Inbox kept;  // this thread's own live blocks; its lock is not used
  double work_ms;
  double tail_ms;
};

// The stores are volatile: a compiler may otherwise leave out blocks that nobody reads.
static void touch(void* block, size_t size) {
  volatile unsigned char* bytes = block;
  bytes[0] = 0xA5;
  bytes[size - 1] = 0x5A;
}

static void* allocate(size_t size) {
  void* block = malloc(size);
  if (!block) fail_allocation(size);
  touch(block, size);
  return block;
}

static void* allocate_next(struct Worker* worker) {
  const struct Options* options = worker->run->options;
  const uint64_t span = options->max_size - options->min_size + 1;
  return allocate((size_t)(options->min_size + random_next(&worker->random) % span));
}

// Sends the block away and returns true, or returns false: it stays with this thread. One number is
// drawn even where no block can be sent, so that local and remote rows do the same work for it.
static bool send_if_remote(struct Worker* worker, void* block) {
  const struct Options* options = worker->run->options;
  const bool remote = random_next(&worker->random) % 100 < options->remote_percent;
  if (!remote || options->threads == 1) return false;
  const uint64_t distance = 1 + random_next(&worker->random) % (options->threads - 1);
  inbox_send(&worker->run->inboxes[(worker->index + distance) % options->threads], block);
  return true;
}

static void keep_in_window(struct Worker* worker, void* block) {
  inbox_append(&worker->kept, block);
  if (worker->kept.count > worker->run->options->live_window) {
    free(worker->kept.blocks[--worker->kept.count]);
  }
}

static void run_interleaved(struct Worker* worker) {
  const struct Options* options = worker->run->options;
  struct Inbox* inbox = &worker->run->inboxes[worker->index];
  for (uint64_t i = 0; i < options->iterations; ++i) {
    if (i % kDrainInterval == 0) inbox_drain(inbox);
    void* block = allocate_next(worker);
    if (send_if_remote(worker, block)) continue;
    if (options->live_window > 0) {
      keep_in_window(worker, block);
    } else {
      free(block);
    }
  }
  inbox_free_all(&worker->kept);
}

static void run_in_phases(struct Worker* worker) {
  const struct Options* options = worker->run->options;
  for (uint64_t i = 0; i < options->iterations; ++i) {
    void* block = allocate_next(worker);
    if (send_if_remote(worker, block)) continue;
    if (options->remote_percent > 0) {
      inbox_append(&worker->kept, block);
    } else {
      free(block);
    }
  }
}

static void tick(const struct Options* options) {
  for (int i = 0; i < kTickCount; ++i) free(allocate((size_t)options->min_size));
}

static void* work(void* argument) {
  struct Worker* worker = argument;
  struct Run* run = worker->run;
  const struct Options* options = run->options;
  inbox_init(&worker->kept, options->live_window > 0 ? options->live_window + 1 : kInitialCapacity);

  const double begin = now_ms();
  if (options->interleaved) {
    run_interleaved(worker);
  } else {
    run_in_phases(worker);
  }
  const double worked = now_ms();
  pthread_barrier_wait(&run->barrier);
  inbox_free_all(&worker->kept);
  inbox_drain(&run->inboxes[worker->index]);
  pthread_barrier_wait(&run->barrier);
  tick(options);
  worker->work_ms = worked - begin;
  worker->tail_ms = now_ms() - worked;

  inbox_destroy(&worker->kept);
  return NULL;
}

static void* allocate_array(size_t count, size_t size) {
  void* array = calloc(count, size);
  if (!array) fail_allocation(count * size);
  return array;
}

struct Result run_workload(const struct Options* options, uint64_t run_index) {
  const size_t count = options->threads;
  struct Run run = {.options = options, .inboxes = allocate_array(count, sizeof(struct Inbox))};
  pthread_t* threads = allocate_array(count, sizeof *threads);
  struct Worker* workers = allocate_array(count, sizeof *workers);
  for (size_t i = 0; i < count; ++i) {
    inbox_init(&run.inboxes[i], kInitialCapacity);
    workers[i].run = &run;
    workers[i].index = i;
    workers[i].random = random_seed(run_index, i);
  }
  pthread_barrier_init(&run.barrier, NULL, (unsigned)count);

  struct Result result = {0};
  const uint64_t faults = minor_fault_count();
  const double begin = now_ms();
  for (size_t i = 0; i < count; ++i) {
    if (pthread_create(&threads[i], NULL, work, &workers[i]) != 0)
      fail("a thread cannot be created");
  }
  for (size_t i = 0; i < count; ++i) pthread_join(threads[i], NULL);
  result.wall_ms = now_ms() - begin;
  result.minor_faults = minor_fault_count() - faults;

  for (size_t i = 0; i < count; ++i) {
    result.work_ms += workers[i].work_ms / (double)count;
    result.tail_ms += workers[i].tail_ms / (double)count;
    inbox_destroy(&run.inboxes[i]);
  }
  pthread_barrier_destroy(&run.barrier);
  free(workers);
  free(threads);
  free(run.inboxes);
  result.post_rss = resident_bytes();
  return result;
}
