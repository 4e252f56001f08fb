// The command line of bench_matrix.
#ifndef BENCH_MATRIX_OPTIONS_H
#define BENCH_MATRIX_OPTIONS_H

#include <stdint.h>

struct Options {
  uint64_t threads;
  uint64_t iterations;      // of each thread
  uint64_t min_size;        // bytes
  uint64_t max_size;        // bytes, inclusive
  uint64_t remote_percent;  // of the blocks that go to another thread
  uint64_t interleaved;     // 1: frees go along with the allocations; 0: phases, see workload.h
  uint64_t live_window;     // blocks a thread keeps before it frees, 0: none
  uint64_t runs;            // in this process, one after another
  uint64_t first_run;       // index of the first run: chooses the random streams
};

// Ends the process with 2 and one line on stderr if the arguments are wrong, with 0 after --help.
struct Options parse_options(int argc, char** argv);

#endif
