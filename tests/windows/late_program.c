// Loads late: a library that allocates, another C runtime, and, if its path is given, a line itself, when blocks of the runtime are out.
#include <stdlib.h>
#include <string.h>

#include "windows/proof.h"

typedef void* Allocate(size_t size);
typedef void Free(void* block);

static void* find(HMODULE module, const char* name) { return (void*)GetProcAddress(module, name); }

static void exchange(const char* what, HMODULE module, const char* allocate_name, const char* free_name) {
  Allocate* const allocate = (Allocate*)find(module, allocate_name);
  Free* const release = (Free*)find(module, free_name);
  if (!allocate || !release) {
    printf("%s is not there\n", what);
    exit(2);
  }
  void* const block = allocate(3000);
  prove(what, block);
  memset(block, 1, 3000);
  release(block);
}

int main(int count, char** words) {
  setvbuf(stdout, NULL, _IONBF, 0);
  void* before = malloc(100);
  memset(before, 2, 100);
  if (count > 1 && !LoadLibraryA(words[1])) return 3;
  exchange("malloc of a late library", LoadLibraryA("late_plugin.dll"), "plugin_allocate", "plugin_free");
  exchange("malloc that GetProcAddress finds", GetModuleHandleA("msvcrt.dll"), "malloc", "free");
  exchange("malloc of a late runtime", LoadLibraryA("ucrtbase.dll"), "malloc", "free");
  before = realloc(before, 100000);
  printf("kept %d\n", before && ((char*)before)[99] == 2);
  free(before);
  void* const after = malloc(100);
  prove("malloc", after);
  free(after);
  printf("done\n");
  return 9;
}
