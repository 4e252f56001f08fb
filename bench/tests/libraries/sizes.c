// The C library's allocator, which at the end prints a number that depends on every size asked for
// and on their order. For programs whose allocations come from one thread at a time.
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

void* __libc_malloc(size_t size);

static uint64_t digest;

__attribute__((visibility("default"))) void* malloc(size_t size) {
  digest = (digest ^ size) * UINT64_C(0x100000001b3);
  return __libc_malloc(size);
}

__attribute__((destructor)) static void print_digest(void) {
  dprintf(STDERR_FILENO, "digest %" PRIx64 "\n", digest);
}
