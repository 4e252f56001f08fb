// realloc, reallocarray, reallocf.
//
// When a block moves: to grow, if the line cannot make room where it is. To shrink, if it would otherwise keep more than
// kAlwaysKeptBytes of which less than half is used: a block never wastes more than it uses, and small blocks are not worth a copy. A
// shrink never fails: without memory for the smaller block the larger one stays.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/api/api.h"
#include "common/core/diagnostics.h"
#include "common/os/underlying.h"

namespace hakozuna::api {
namespace {

constexpr size_t kAlwaysKeptBytes = 64;

#if defined(__APPLE__)
constexpr bool kEmptyBlockForZero = true;  // as its manual says
#else
constexpr bool kEmptyBlockForZero = false;  // as glibc does
#endif

bool is_good_fit(size_t capacity, size_t size) {
  return size <= capacity && (capacity <= kAlwaysKeptBytes || size >= capacity / 2);
}

void* resize_ours(void* block, size_t capacity, size_t size) {
  if (is_good_fit(capacity, size)) return block;
  if (void* const resized = ServedLine::resize_without_copy(block, size)) {
    block = resized;
    capacity = ServedLine::usable_size(block);
    if (is_good_fit(capacity, size)) return block;
  }
  const int saved_errno = errno;
  void* const moved = ServedLine::allocate(size);
  if (!moved) {
    if (size > capacity) return nullptr;
    errno = saved_errno;
    return block;
  }
  memcpy(moved, block, size < capacity ? size : capacity);
  ServedLine::deallocate(block);
  return moved;
}

// `block` is no live block of ours.
[[gnu::cold, gnu::noinline]] void* resize_other(void* block, size_t size) {
  const Classification found = ServedLine::classify(block);
  if (found.verdict == Verdict::kMiss) return os::underlying_realloc(block, size);
  if (found.verdict != Verdict::kValid) {
    core::report_misuse(ServedLine::kName, core::misuse_of(found.verdict), "realloc", block, found);
  }
  errno = EINVAL;  // the report let the program go on: nothing was resized
  return nullptr;
}

void* resize(void* block, size_t size) {
  if (!block) return ServedLine::allocate(size);
  if (size == 0) {
    // C17 allows both, each system's programs know one: the block is freed and there is no new one, or an empty one.
    void* const empty = kEmptyBlockForZero ? ServedLine::allocate(0) : nullptr;
    if (!kEmptyBlockForZero || empty) ServedLine::deallocate(block);
    return empty;
  }
  const size_t capacity = ServedLine::usable_size(block);
  return capacity != 0 ? resize_ours(block, capacity, size) : resize_other(block, size);
}

}  // namespace
}  // namespace hakozuna::api

// Not inlined into its relatives: they call it. Tools that put their own functions in place of ours, valgrind first of all, know realloc and not
// always the others, and a block of our heap must not reach their free.
HAKOZUNA_REPLACE [[gnu::noinline]] void* realloc(void* block, size_t size) noexcept {
  return hakozuna::api::resize(block, size);
}

HAKOZUNA_REPLACE void* reallocarray(void* block, size_t count, size_t size) noexcept {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) [[unlikely]] {
    errno = ENOMEM;
    return nullptr;
  }
  return realloc(block, bytes);
}

// BSD: as realloc, but a block that cannot be resized is freed.
HAKOZUNA_REPLACE void* reallocf(void* block, size_t size) noexcept {
  void* const resized = realloc(block, size);
  if (!resized && size != 0) free(block);
  return resized;
}

#if defined(__ELF__)
extern "C" {
void* __libc_realloc(void* block, size_t size) noexcept HAKOZUNA_EXPORT_ALIAS("realloc");
void* __libc_reallocarray(void* block, size_t count, size_t size) noexcept
    HAKOZUNA_EXPORT_ALIAS("reallocarray");
}
#endif
