// operator new and delete, all forms.
//
// Hot path: the line's, and nothing else where the line tells the compiler that its fast path's result is not null; the test
// for null then stays with the slow path.
#include <new>

#include "common/api/api.h"
#include "common/api/new_failure.h"
#include "common/base/bits.h"

#define HAKOZUNA_EXPORT_OPERATOR __attribute__((visibility("default")))

using hakozuna::api::ServedLine;

namespace {

// The compiler passes powers of two; a program that calls the operator itself may not, and is told as libstdc++ tells it.
void* allocate_aligned(std::size_t alignment, std::size_t size) {
  return hakozuna::is_power_of_two(alignment) ? ServedLine::allocate_aligned(alignment, size)
                                              : nullptr;
}

}  // namespace

HAKOZUNA_EXPORT_OPERATOR void* operator new(std::size_t size) {
  void* const block = ServedLine::allocate(size);
  if (block) [[likely]] return block;
  return hakozuna::api::new_after_failure(size, 1);
}

HAKOZUNA_EXPORT_OPERATOR void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  void* const block = ServedLine::allocate(size);
  if (block) [[likely]] return block;
  return hakozuna::api::new_after_failure_nothrow(size, 1);
}

HAKOZUNA_EXPORT_OPERATOR void* operator new(std::size_t size, std::align_val_t alignment) {
  const std::size_t bytes = static_cast<std::size_t>(alignment);
  void* const block = allocate_aligned(bytes, size);
  if (block) [[likely]] return block;
  return hakozuna::api::new_after_failure(size, bytes);
}

HAKOZUNA_EXPORT_OPERATOR void* operator new(std::size_t size, std::align_val_t alignment,
                                            const std::nothrow_t&) noexcept {
  const std::size_t bytes = static_cast<std::size_t>(alignment);
  void* const block = allocate_aligned(bytes, size);
  if (block) [[likely]] return block;
  return hakozuna::api::new_after_failure_nothrow(size, bytes);
}

HAKOZUNA_EXPORT_OPERATOR void operator delete(void* block) noexcept {
  ServedLine::deallocate(block);
}

HAKOZUNA_EXPORT_OPERATOR void operator delete(void* block, std::size_t size) noexcept {
  ServedLine::deallocate_sized(block, size);
}

// The other forms are the same functions under other names: size_t, align_val_t and the reference to nothrow are passed like any
// word, and words behind those a function reads do no harm.
#define HAKOZUNA_SAME_AS(target) HAKOZUNA_EXPORT_ALIAS(target)
void* operator new[](std::size_t) HAKOZUNA_SAME_AS("_Znwm");
void* operator new[](std::size_t, const std::nothrow_t&) noexcept
    HAKOZUNA_SAME_AS("_ZnwmRKSt9nothrow_t");
void* operator new[](std::size_t, std::align_val_t) HAKOZUNA_SAME_AS("_ZnwmSt11align_val_t");
void* operator new[](std::size_t, std::align_val_t, const std::nothrow_t&) noexcept
    HAKOZUNA_SAME_AS("_ZnwmSt11align_val_tRKSt9nothrow_t");

void operator delete(void*, const std::nothrow_t&) noexcept HAKOZUNA_SAME_AS("_ZdlPv");
void operator delete(void*, std::align_val_t) noexcept HAKOZUNA_SAME_AS("_ZdlPv");
void operator delete(void*, std::align_val_t, const std::nothrow_t&) noexcept
    HAKOZUNA_SAME_AS("_ZdlPv");
void operator delete(void*, std::size_t, std::align_val_t) noexcept HAKOZUNA_SAME_AS("_ZdlPvm");
void operator delete[](void*) noexcept HAKOZUNA_SAME_AS("_ZdlPv");
void operator delete[](void*, const std::nothrow_t&) noexcept HAKOZUNA_SAME_AS("_ZdlPv");
void operator delete[](void*, std::size_t) noexcept HAKOZUNA_SAME_AS("_ZdlPvm");
void operator delete[](void*, std::align_val_t) noexcept HAKOZUNA_SAME_AS("_ZdlPv");
void operator delete[](void*, std::align_val_t, const std::nothrow_t&) noexcept
    HAKOZUNA_SAME_AS("_ZdlPv");
void operator delete[](void*, std::size_t, std::align_val_t) noexcept HAKOZUNA_SAME_AS("_ZdlPvm");
