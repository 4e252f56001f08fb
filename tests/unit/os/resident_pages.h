// What the kernel says about the memory behind a range of addresses.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <vector>

#include "common/base/bits.h"
#include "common/os/memory.h"

namespace hakozuna::test {

// Pages of the range that hold memory. The range is mapped and begins at a page.
inline size_t resident_pages(const void* start, size_t bytes) {
  const size_t page = os::page_bytes();
  std::vector<unsigned char> pages((bytes + page - 1) / page);
  if (mincore(const_cast<void*>(start), bytes, pages.data()) != 0) return SIZE_MAX;
  size_t count = 0;
  for (const unsigned char flags : pages) count += flags & 1;
  return count;
}

// Of them, the pages that nothing but the block is on.
inline size_t resident_pages_within(const void* block, size_t bytes) {
  const size_t page = os::page_bytes();
  const uintptr_t begin = align_up(reinterpret_cast<uintptr_t>(block), page);
  const uintptr_t end = align_down(reinterpret_cast<uintptr_t>(block) + bytes, page);
  return begin < end ? resident_pages(reinterpret_cast<const void*>(begin), end - begin) : 0;
}

inline bool is_mapped(const void* start, size_t bytes) {
  return resident_pages(start, bytes) != SIZE_MAX;
}

}  // namespace hakozuna::test
