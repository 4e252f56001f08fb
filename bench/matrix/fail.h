// Ending the process with one line on stderr, without allocating: the allocator may be what has
// failed.
#ifndef BENCH_MATRIX_FAIL_H
#define BENCH_MATRIX_FAIL_H

#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

static inline _Noreturn void fail(const char* what) {
  dprintf(STDERR_FILENO, "bench_matrix: %s\n", what);
  _exit(1);
}

static inline _Noreturn void fail_allocation(size_t bytes) {
  dprintf(STDERR_FILENO, "bench_matrix: no memory for %zu bytes\n", bytes);
  _exit(1);
}

#endif
