// The names of operator new and delete.
#include "common/api/operators.h"

#include <new>

#define HAKOZUNA_EXPORT_OPERATOR __attribute__((visibility("default")))

namespace api = hakozuna::api;

HAKOZUNA_EXPORT_OPERATOR void* operator new(std::size_t size) { return api::new_plain(size); }

HAKOZUNA_EXPORT_OPERATOR void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return api::new_nothrow(size);
}

HAKOZUNA_EXPORT_OPERATOR void* operator new(std::size_t size, std::align_val_t alignment) {
  return api::new_aligned(size, static_cast<std::size_t>(alignment));
}

HAKOZUNA_EXPORT_OPERATOR void* operator new(std::size_t size, std::align_val_t alignment,
                                            const std::nothrow_t&) noexcept {
  return api::new_aligned_nothrow(size, static_cast<std::size_t>(alignment));
}

HAKOZUNA_EXPORT_OPERATOR void operator delete(void* block) noexcept { api::delete_plain(block); }

HAKOZUNA_EXPORT_OPERATOR void operator delete(void* block, std::size_t size) noexcept {
  api::delete_sized(block, size);
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
