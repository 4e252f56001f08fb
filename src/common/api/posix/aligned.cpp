// Allocation with an alignment. The functions differ in which alignments they take and how they say no.
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#if __has_include(<malloc.h>)
#include <malloc.h>  // memalign, where the C library has it
#endif

#include "common/api/api.h"
#include "common/base/bits.h"
#include "common/os/memory.h"

using hakozuna::is_power_of_two;
using hakozuna::api::ServedLine;

// ISO C: EINVAL for an alignment that is not a power of two; the size need not be a multiple of it (C17).
HAKOZUNA_REPLACE void* aligned_alloc(size_t alignment, size_t size) noexcept {
  if (!is_power_of_two(alignment)) [[unlikely]] {
    errno = EINVAL;
    return nullptr;
  }
  return ServedLine::allocate_aligned(alignment, size);
}

// As glibc: an alignment that is not a power of two is rounded up to one.
// Not inlined, for the reason given at realloc().
HAKOZUNA_REPLACE [[gnu::noinline]] void* memalign(size_t alignment, size_t size) noexcept {
  if (!is_power_of_two(alignment)) [[unlikely]] {
    constexpr size_t kLargestPowerOfTwo = SIZE_MAX / 2 + 1;
    if (alignment > kLargestPowerOfTwo) {
      errno = EINVAL;
      return nullptr;
    }
    alignment = std::bit_ceil(alignment);  // 1 for 0
  }
  return ServedLine::allocate_aligned(alignment, size);
}

// POSIX: the error is the result, errno is not touched, and *result only on success.
HAKOZUNA_REPLACE int posix_memalign(void** result, size_t alignment, size_t size) noexcept {
  if (!is_power_of_two(alignment) || alignment % sizeof(void*) != 0) [[unlikely]] return EINVAL;
  const int saved_errno = errno;
  void* const block = ServedLine::allocate_aligned(alignment, size);
  if (!block) [[unlikely]] {
    errno = saved_errno;
    return ENOMEM;
  }
  *result = block;
  return 0;
}

HAKOZUNA_REPLACE void* valloc(size_t size) noexcept {
  return memalign(hakozuna::os::page_bytes(), size);
}

// As valloc, in whole pages.
HAKOZUNA_REPLACE void* pvalloc(size_t size) noexcept {
  const size_t page = hakozuna::os::page_bytes();
  size_t padded;
  if (__builtin_add_overflow(size, page - 1, &padded)) [[unlikely]] {
    errno = ENOMEM;
    return nullptr;
  }
  return memalign(page, hakozuna::align_down(padded, page));
}

#if defined(__ELF__)
extern "C" {
void* __libc_memalign(size_t alignment, size_t size) noexcept HAKOZUNA_EXPORT_ALIAS("memalign");
void* __libc_valloc(size_t size) noexcept HAKOZUNA_EXPORT_ALIAS("valloc");
void* __libc_pvalloc(size_t size) noexcept HAKOZUNA_EXPORT_ALIAS("pvalloc");
int __posix_memalign(void** result, size_t alignment, size_t size) noexcept
    HAKOZUNA_EXPORT_ALIAS("posix_memalign");
}
#endif
