// malloc, calloc and free: nothing but the line. Its fast paths are inlined here and its slow paths are tail calls.
#include <errno.h>
#include <stdlib.h>

#include "common/api/api.h"

using hakozuna::api::ServedLine;

HAKOZUNA_REPLACE void* malloc(size_t size) noexcept { return ServedLine::allocate(size); }

HAKOZUNA_REPLACE void free(void* block) noexcept { ServedLine::deallocate(block); }

HAKOZUNA_REPLACE void* calloc(size_t count, size_t size) noexcept {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) [[unlikely]] {
    errno = ENOMEM;
    return nullptr;
  }
  return ServedLine::allocate_zeroed(bytes);
}

#if defined(__ELF__)
extern "C" {
void* __libc_malloc(size_t size) noexcept HAKOZUNA_EXPORT_ALIAS("malloc");
void* __libc_calloc(size_t count, size_t size) noexcept HAKOZUNA_EXPORT_ALIAS("calloc");
void __libc_free(void* block) noexcept HAKOZUNA_EXPORT_ALIAS("free");
void cfree(void* block) noexcept HAKOZUNA_EXPORT_ALIAS("free");
}
#endif
