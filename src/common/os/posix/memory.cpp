// The part of os/memory.h that Unix systems have alike.
#include "common/os/memory.h"

#include <sys/mman.h>

#include <cstdint>

#include "common/base/bits.h"
#include "common/os/posix/map_pages.h"
#include "common/os/posix/preserve_errno.h"

namespace hakozuna::os {
namespace {

void* map_aligned(size_t bytes, size_t alignment, int protection) {
  PreserveErrno preserve;
  // Kernels place mappings next to each other or in the first gap, so after one aligned mapping of an aligned size the next is often aligned by
  // itself.
  void* const first_try = map_pages(bytes, protection);
  if (!first_try || is_aligned(reinterpret_cast<uintptr_t>(first_try), alignment)) return first_try;
  munmap(first_try, bytes);

  const size_t padded = bytes + alignment;
  if (padded < bytes) return nullptr;
  char* const start = static_cast<char*>(map_pages(padded, protection));
  if (!start) return nullptr;
  char* const aligned = align_up(start, alignment);
  if (aligned != start) munmap(start, static_cast<size_t>(aligned - start));
  const size_t tail = static_cast<size_t>(start + padded - (aligned + bytes));
  if (tail != 0) munmap(aligned + bytes, tail);
  return aligned;
}

}  // namespace

void* reserve(size_t bytes, size_t alignment) { return map_aligned(bytes, alignment, PROT_NONE); }

void* map(size_t bytes, size_t alignment) { return map_aligned(bytes, alignment, PROT_READ | PROT_WRITE); }

bool commit(void* address, size_t bytes) {
  PreserveErrno preserve;
  return mprotect(address, bytes, PROT_READ | PROT_WRITE) == 0;
}

// Nothing is charged in advance. macOS has no page of zeros that all share: a page that is read takes memory from then on.
bool make_readable(void* address, size_t bytes) {
  PreserveErrno preserve;
  return mprotect(address, bytes, PROT_READ) == 0;
}

}  // namespace hakozuna::os
