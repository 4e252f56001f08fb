// C23's frees with a known size, and the same under our own names.
//
// The size is what the program asked for, which may be much less than what the block holds: the block may be aligned, or
// have been larger before a realloc. A line may rely on nothing but that the size fits.
#include "common/api/api.h"

using hakozuna::api::ServedLine;

HAKOZUNA_EXPORT void free_sized(void* block, size_t size) noexcept {
  ServedLine::deallocate_sized(block, size);
}

HAKOZUNA_EXPORT void free_aligned_sized(void* block, size_t, size_t size) noexcept {
  ServedLine::deallocate_sized(block, size);
}

extern "C" {
void hakozuna_free_sized(void* block, size_t size) HAKOZUNA_EXPORT_ALIAS("free_sized");
void hakozuna_free_aligned_sized(void* block, size_t alignment, size_t size)
    HAKOZUNA_EXPORT_ALIAS("free_aligned_sized");
}
