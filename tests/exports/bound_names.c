/* A program linked with a line: the linker and the loader bind every name it refers to to the line's library.
 *
 * usage: bound_names LIBRARY
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Declared under names of our own: C has names for some of these already, and C++'s are none in C. */
#define X(name) extern void bound_##name(void) __asm__(#name);
#include "every_name.inc"
#undef X

static const struct {
  const char* name;
  void (*function)(void);
} bound[] = {
#define X(name) {#name, bound_##name},
#include "every_name.inc"
#undef X
};

int main(int argc, char** argv) {
  char* const library = argc == 2 ? realpath(argv[1], NULL) : NULL;
  if (!library) return 2;
  int failures = 0;
  const size_t count = sizeof bound / sizeof bound[0];
  for (size_t i = 0; i < count; ++i) {
    void* address;
    Dl_info found;
    memcpy(&address, &bound[i].function, sizeof address);
    char* file = dladdr(address, &found) != 0 ? realpath(found.dli_fname, NULL) : NULL;
    if (!file || strcmp(file, library) != 0) {
      fprintf(stderr, "%s is bound to %s\n", bound[i].name, file ? file : "nothing known");
      ++failures;
    }
    free(file);
  }
  free(library);
  printf("%zu names, %d failures\n", count, failures);
  return failures != 0;
}
