/* A program that carries an allocator under names of its own, as many with a built-in jemalloc do.
 */
#include <stdlib.h>

__attribute__((noinline)) void* je_malloc(size_t size);
void* je_malloc(size_t size) { return malloc(size); }

int main(void) {
  void* volatile block = je_malloc(10);
  free(block);
  return block == NULL;
}
