// Mach-O: a function that replaces the system's has a name of its own, because interpose.cpp needs both. It is hidden: programs call it under the
// system's name.
//
// Included by api.h behind the system's headers. What the system has no function for keeps its name, is hidden, and nothing refers to it.
// With arguments, so that fields of the same names keep theirs.
#pragma once

#define HAKOZUNA_REPLACE extern "C" __attribute__((visibility("hidden")))

#include <cstddef>

#define malloc(...) replaced_malloc(__VA_ARGS__)
#define free(...) replaced_free(__VA_ARGS__)
#define calloc(...) replaced_calloc(__VA_ARGS__)
#define realloc(...) replaced_realloc(__VA_ARGS__)
#define reallocf(...) replaced_reallocf(__VA_ARGS__)
#define valloc(...) replaced_valloc(__VA_ARGS__)
#define aligned_alloc(...) replaced_aligned_alloc(__VA_ARGS__)
#define posix_memalign(...) replaced_posix_memalign(__VA_ARGS__)
#define malloc_size(...) replaced_malloc_size(__VA_ARGS__)
#define malloc_good_size(...) replaced_malloc_good_size(__VA_ARGS__)

// Those that others of ours call.
HAKOZUNA_REPLACE void free(void* block) noexcept;
HAKOZUNA_REPLACE void* realloc(void* block, size_t size) noexcept;
