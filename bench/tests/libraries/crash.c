// An "allocator" that aborts as soon as it is loaded.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((constructor)) static void crash(void) {
  dprintf(STDERR_FILENO, "crash on purpose\n");
  abort();
}
