// The workload of the matrix: what each thread allocates, and who frees it.
//
// Every block gets a size drawn uniformly from [min_size, max_size], its first and last byte are
// written, and with probability remote_percent it is sent to the inbox of another thread, drawn
// uniformly.
//
// - Interleaved: every 32 iterations a thread frees all that is in its inbox. A block that is not
//   sent is freed at once or, with a live window, kept until the window is full; then the newest
//   goes.
// - In phases (interleaved 0, remote_percent > 0): nothing is freed before all threads have
//   allocated everything.
// - Local (interleaved 0, remote_percent 0): every block is freed at once.
//
// At the end: barrier, drain the inbox, barrier, 64 pairs of the smallest block.
#ifndef BENCH_MATRIX_WORKLOAD_H
#define BENCH_MATRIX_WORKLOAD_H

#include <stdint.h>

#include "options.h"

struct Result {
  double wall_ms;  // from before the first thread is created to after the last is joined, thread
                   // exit included
  double work_ms;  // mean over the threads: the iterations
  double tail_ms;  // mean over the threads: the waiting and draining after them
  uint64_t minor_faults;  // in the time of wall_ms
  uint64_t
      post_rss;  // bytes, when all threads are joined and the inboxes are freed; no pause, no trim
};

struct Result run_workload(const struct Options* options, uint64_t run);

#endif
