// Frees with a known size under our own names, and C23's.
//
// The size is what the program asked for, which may be much less than what the block holds: the block may be aligned, or
// have been larger before a realloc. A line may rely on nothing but that the size fits.
#include "common/api/api.h"

using hakozuna::api::ServedLine;

HAKOZUNA_EXPORT void hakozuna_free_sized(void* block, size_t size) { ServedLine::deallocate_sized(block, size); }

HAKOZUNA_EXPORT void hakozuna_free_aligned_sized(void* block, size_t, size_t size) {
  ServedLine::deallocate_sized(block, size);
}

#if defined(HAKOZUNA_EXPORT_ALIAS)
extern "C" {
void free_sized(void* block, size_t size) noexcept HAKOZUNA_EXPORT_ALIAS("hakozuna_free_sized");
void free_aligned_sized(void* block, size_t alignment, size_t size) noexcept
    HAKOZUNA_EXPORT_ALIAS("hakozuna_free_aligned_sized");
}
#endif
