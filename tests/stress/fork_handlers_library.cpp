// A library that has work to do when its process forks, for which it allocates, as libraries of databases and of accelerators do.
#include "fork_handlers_library.h"

#include <pthread.h>

#include <cstddef>
#include <cstdlib>

namespace {

void* blocks[64];
size_t count = 0;

void before_fork() {
  for (size_t bytes = 16; bytes < 300'000; bytes += bytes / 3 + 16) blocks[count++] = std::malloc(bytes);
}

void after_fork() {
  while (count != 0) std::free(blocks[--count]);
}

// Runs before the constructor of a library that is preloaded.
[[gnu::constructor]] void start() { pthread_atfork(before_fork, after_fork, after_fork); }

}  // namespace

bool fork_handlers_are_idle() { return count == 0; }
