// What the tests use of glibc's malloc.h, over the C runtime's functions: these are redirected too.
#pragma once

#include_next <malloc.h>

inline size_t malloc_usable_size(void* block) { return block ? _msize(block) : 0; }
