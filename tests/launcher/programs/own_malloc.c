/* A program with a malloc of its own, which the loader prefers to a preloaded one. */
#include <stddef.h>

static _Alignas(16) char memory[1 << 20];
static size_t used;

void* malloc(size_t size) {
  void* block = memory + used;
  used += (size + 15) & ~(size_t)15;
  return used <= sizeof memory ? block : NULL;
}
void free(void* block) { (void)block; }

int main(void) {
  char* volatile block = malloc(10);
  free(block);
  return block == NULL;
}
