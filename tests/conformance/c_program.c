/* A program in C under the line: its blocks are ours, and the library brought no C++ runtime into
 * the process.
 *
 * usage: c_program <line> */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hakozuna/hakozuna.h"

static int failures = 0;

static void expect(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "failed: %s\n", what);
  ++failures;
}

static int is_mapped(const char* library) {
  char line[4096];
  int found = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  if (!maps) return -1;
  while (fgets(line, sizeof line, maps)) found |= strstr(line, library) != NULL;
  fclose(maps);
  return found;
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s <line>\n", argv[0]);
    return 2;
  }
  const char* (*line_name)(void) = NULL;
  hakozuna_verdict (*classify)(const void*) = NULL;
  *(void**)&line_name = dlsym(RTLD_DEFAULT, "hakozuna_line_name");
  *(void**)&classify = dlsym(RTLD_DEFAULT, "hakozuna_classify");
  if (!line_name || !classify) {
    fprintf(stderr, "failed: no hakozuna library is loaded\n");
    return 1;
  }
  expect(strcmp(line_name(), argv[1]) == 0, "the line is the one that was preloaded");

  for (size_t size = 0; size < 100000; size += 1 + size / 8) {
    char* block = malloc(size);
    expect(block != NULL && (uintptr_t)block % 16 == 0, "malloc gives an aligned block");
    expect(classify(block) == HAKOZUNA_VALID, "a block of malloc is ours");
    if (block && size) memset(block, 1, size);
    block = realloc(block, 2 * size + 1);
    expect(block != NULL && (size == 0 || block[size - 1] == 1), "realloc keeps the contents");
    free(block);
  }
  char* zeroed = calloc(1000, 3);
  expect(zeroed != NULL && zeroed[0] == 0 && zeroed[2999] == 0, "calloc clears");
  free(zeroed);

  expect(is_mapped("libhakozuna_") == 1, "the library is mapped");
  expect(is_mapped("libstdc++") == 0, "the C++ runtime is not");
  expect(is_mapped("libgcc_s") == 0, "the unwinder is not");
  return failures == 0 ? 0 : 1;
}
