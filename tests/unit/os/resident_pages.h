// What the kernel says about the memory behind a range of addresses.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "common/base/bits.h"
#include "common/os/memory.h"

namespace hakozuna::test {

// Pages of the range that hold memory. The range is mapped and begins at a page.
inline size_t resident_pages(const void* start, size_t bytes) {
  // An emulator with larger pages answers for those of the machine beneath: how many answers came is seen by what was there before.
  constexpr size_t kLeastPage = 4096;  // bytes
  constexpr unsigned char kNoAnswer = 0xff;
  const size_t page = os::page_bytes();
  const size_t count = (bytes + page - 1) / page;
  std::vector<unsigned char> answers((bytes + kLeastPage - 1) / kLeastPage, kNoAnswer);
  if (mincore(const_cast<void*>(start), bytes, answers.data()) != 0) return SIZE_MAX;
  while (answers.back() == kNoAnswer) answers.pop_back();
  const size_t answers_per_page = (answers.size() + count - 1) / count;
  size_t resident = 0;
  for (size_t i = 0; i < answers.size(); i += answers_per_page) {
    const auto end = answers.begin() + static_cast<ptrdiff_t>(std::min(i + answers_per_page, answers.size()));
    resident += std::any_of(answers.begin() + static_cast<ptrdiff_t>(i), end, [](unsigned char answer) { return (answer & 1) != 0; });
  }
  return resident;
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
