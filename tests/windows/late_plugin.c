// A library that a program loads when it runs.
#include <stdlib.h>

__declspec(dllexport) void* plugin_allocate(size_t size) { return malloc(size); }
__declspec(dllexport) void plugin_free(void* block) { free(block); }
