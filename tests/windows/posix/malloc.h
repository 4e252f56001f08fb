// What the tests use of glibc's malloc.h and of C11, over the C runtime's functions: these are redirected too.
#pragma once
#pragma GCC system_header

#include_next <malloc.h>

#include <errno.h>

#include "hakozuna/hakozuna.h"

extern "C" void* reallocarray(void* block, size_t count, size_t size) noexcept;  // of the library

inline size_t malloc_usable_size(void* block) { return block ? _msize(block) : 0; }
inline int malloc_trim(size_t keep_bytes) { return hakozuna_trim(keep_bytes); }
inline void* aligned_alloc(size_t alignment, size_t size) { return _aligned_malloc(size, alignment); }
inline int posix_memalign(void** result, size_t alignment, size_t size) {
  *result = _aligned_malloc(size, alignment);
  return *result ? 0 : ENOMEM;
}
