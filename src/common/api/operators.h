// operator new and delete, all forms, as functions; elf/ and mach_o/ give them their names.
//
// Hot path: the line's, and nothing else where the line tells the compiler that its fast path's result is not null; the test
// for null then stays with the slow path.
#pragma once

#include <cstddef>

#include "common/api/api.h"
#include "common/api/new_failure.h"
#include "common/base/bits.h"

namespace hakozuna::api {

// The compiler passes powers of two; a program that calls the operator itself may not, and is told as libstdc++ tells it.
inline void* allocate_if_power_of_two(size_t alignment, size_t size) {
  return is_power_of_two(alignment) ? ServedLine::allocate_aligned(alignment, size) : nullptr;
}

inline void* new_plain(size_t size) {
  void* const block = ServedLine::allocate(size);
  if (block) [[likely]] return block;
  return new_after_failure(size, 1);
}

inline void* new_nothrow(size_t size) noexcept {
  void* const block = ServedLine::allocate(size);
  if (block) [[likely]] return block;
  return new_after_failure_nothrow(size, 1);
}

inline void* new_aligned(size_t size, size_t alignment) {
  void* const block = allocate_if_power_of_two(alignment, size);
  if (block) [[likely]] return block;
  return new_after_failure(size, alignment);
}

inline void* new_aligned_nothrow(size_t size, size_t alignment) noexcept {
  void* const block = allocate_if_power_of_two(alignment, size);
  if (block) [[likely]] return block;
  return new_after_failure_nothrow(size, alignment);
}

inline void delete_plain(void* block) noexcept { ServedLine::deallocate(block); }

inline void delete_sized(void* block, size_t size) noexcept { ServedLine::deallocate_sized(block, size); }

}  // namespace hakozuna::api
