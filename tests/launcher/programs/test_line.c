/* A library that looks like an allocator line to the launcher: it answers malloc with the C
 * library's and has what the launcher asks for. Compiled several times: TEST_LINE_NAME;
 * TEST_LINE_DELAY_MS and TEST_LINE_TOUCH_MIB make a process it is loaded into slower or larger by
 * that much. */
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* block, size_t size);
void __libc_free(void* block);

void* malloc(size_t size) { return __libc_malloc(size); }
void* calloc(size_t count, size_t size) { return __libc_calloc(count, size); }
void* realloc(void* block, size_t size) { return __libc_realloc(block, size); }
void free(void* block) { __libc_free(block); }

const char* hakozuna_line_name(void);
const char* hakozuna_line_name(void) { return TEST_LINE_NAME; }
int hakozuna_version(void);
int hakozuna_version(void) { return 10203; }

__attribute__((constructor)) static void cost_something(void) {
  const struct timespec delay = {0, TEST_LINE_DELAY_MS * 1000000L};
  if (TEST_LINE_DELAY_MS > 0) nanosleep(&delay, NULL);
  const size_t size = (size_t)TEST_LINE_TOUCH_MIB << 20;
  if (size == 0) return;
  void* memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory != MAP_FAILED) memset(memory, 1, size);
}
