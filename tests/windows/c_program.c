// A program in C: the C runtime's whole allocation surface, arguments, environment, working directory, standard input, exit code.
#include <direct.h>
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "windows/proof.h"

typedef void* Recalloc(void* block, size_t count, size_t size);

static int failures = 0;

static void expect(int condition, const char* what) {
  if (condition) return;
  printf("wrong: %s\n", what);
  ++failures;
}

static int all(const char* bytes, size_t from, size_t to, char value) {
  for (size_t i = from; i < to; ++i) {
    if (bytes[i] != value) return 0;
  }
  return 1;
}

static void ordinary(void) {
  char* block = malloc(1000);
  prove("malloc", block);
  expect(_msize(block) >= 1000, "_msize");
  memset(block, 1, 1000);
  expect(_expand(block, 900) == block, "_expand that shrinks");
  expect(_expand(block, (size_t)1 << 40) == NULL, "_expand beyond all bounds");
  block = realloc(block, 300000);
  prove("realloc", block);
  expect(all(block, 0, 900, 1), "realloc keeps");
  free(block);

  block = calloc(30, 7);
  prove("calloc", block);
  expect(all(block, 0, 210, 0), "calloc clears");
  memset(block, 2, _msize(block));
  const size_t before = _msize(block);
  // Neither in every import library nor in every runtime.
  Recalloc* const recalloc = (Recalloc*)(void*)GetProcAddress(GetModuleHandleA("msvcrt.dll"), "_recalloc");
  if (recalloc) {
    block = recalloc(block, 3000, 7);
    prove("_recalloc", block);
    expect(all(block, 0, before, 2) && all(block, before, 21000, 0), "_recalloc keeps and clears");
  }
  free(block);

  errno = 0;
  expect(malloc((size_t)1 << 62) == NULL && errno == ENOMEM, "malloc of too much");
  errno = 0;
  expect(calloc((size_t)1 << 40, (size_t)1 << 40) == NULL && errno == ENOMEM, "calloc that overflows");
  free(NULL);
}

static void aligned(void) {
  for (size_t alignment = 1; alignment <= 1 << 17; alignment *= 2) {
    char* block = _aligned_malloc(500, alignment);
    expect(block && (uintptr_t)block % alignment == 0, "_aligned_malloc");
    memset(block, 3, 500);
    block = _aligned_realloc(block, 90000, alignment);
    expect(block && (uintptr_t)block % alignment == 0 && all(block, 0, 500, 3), "_aligned_realloc");
    if (alignment == 4096) prove("_aligned_realloc", block);
    _aligned_free(block);
  }
  char* block = _aligned_offset_malloc(500, 64, 8);
  expect(block && (uintptr_t)(block + 8) % 64 == 0, "_aligned_offset_malloc");
  _aligned_free(block);
  _aligned_free(NULL);
}

static void of_the_runtime(void) {
  char* copy = _strdup("made inside the runtime");
  copy = realloc(copy, 5000);
  expect(copy && strcmp(copy, "made inside the runtime") == 0, "realloc of the runtime's own block");
  free(copy);
  char* folder = _getcwd(NULL, 0);
  printf("folder %s\n", folder);
  free(folder);
}

int main(int count, char** words) {
  setvbuf(stdout, NULL, _IONBF, 0);
  for (int i = 1; i < count; ++i) printf("argument [%s]\n", words[i]);
  const char* const variable = getenv("A_VARIABLE");
  printf("variable %s\n", variable ? variable : "none");
  char line[64];
  if (fgets(line, sizeof line, stdin)) printf("input %s\n", line);
  ordinary();
  aligned();
  of_the_runtime();
  return failures == 0 ? 37 : 1;
}
