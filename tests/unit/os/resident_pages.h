// What the kernel says about the memory behind a range of addresses.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <vector>

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

inline bool is_mapped(const void* start, size_t bytes) {
  return resident_pages(start, bytes) != SIZE_MAX;
}

}  // namespace hakozuna::test
