/* A C program that loads a C++ library: operator new must find the runtime that came with it.
 *
 * usage: late_runtime PLUGIN
 */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  void* const plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!plugin) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  int (*catches)(void);
  int (*handler_calls)(void);
  *(void**)&catches = dlsym(plugin, "plugin_catches_bad_alloc");
  *(void**)&handler_calls = dlsym(plugin, "plugin_counts_handler_calls");
  const int caught = catches();
  const int calls = handler_calls();
  printf("caught %d, handler called %d times\n", caught, calls);
  return !(caught == 1 && calls == 1);
}
