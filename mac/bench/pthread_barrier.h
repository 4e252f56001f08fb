// The barrier of POSIX threads, which macOS leaves out, as far as bench/matrix uses it. Included in front of each of its files.
#ifndef MAC_BENCH_PTHREAD_BARRIER_H
#define MAC_BENCH_PTHREAD_BARRIER_H

#include <pthread.h>

typedef struct {
  pthread_mutex_t lock;
  pthread_cond_t all_are_here;
  unsigned expected;
  unsigned here;
  unsigned round;  // how often all have come: tells waiters of this time from those of the next
} pthread_barrier_t;

static inline int pthread_barrier_init(pthread_barrier_t* barrier, const void* attributes, unsigned expected) {
  (void)attributes;
  *barrier = (pthread_barrier_t){.expected = expected};
  pthread_mutex_init(&barrier->lock, NULL);
  return pthread_cond_init(&barrier->all_are_here, NULL);
}

static inline int pthread_barrier_wait(pthread_barrier_t* barrier) {
  pthread_mutex_lock(&barrier->lock);
  const unsigned round = barrier->round;
  if (++barrier->here == barrier->expected) {
    barrier->here = 0;
    ++barrier->round;
    pthread_cond_broadcast(&barrier->all_are_here);
  } else {
    while (barrier->round == round) pthread_cond_wait(&barrier->all_are_here, &barrier->lock);
  }
  pthread_mutex_unlock(&barrier->lock);
  return 0;
}

static inline int pthread_barrier_destroy(pthread_barrier_t* barrier) {
  pthread_mutex_destroy(&barrier->lock);
  return pthread_cond_destroy(&barrier->all_are_here);
}

#endif
