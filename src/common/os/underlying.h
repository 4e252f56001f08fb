// The allocator underneath: whoever would have served the program without us, usually libc.
//
// Pointers that are not ours come from there: memory the loader or libc allocated before we were loaded, blocks of a library that
// was bound to another allocator. Its functions are the next of their names behind our library, found at the first such pointer.
// In a fully static program there is none; a foreign pointer is then one line on stderr and abort().
//
// All functions are thread-safe and preserve errno unless they fail.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hakozuna::os {

// Frees `block`, which is not null and not ours.
[[gnu::cold, gnu::noinline]] void underlying_free(void* block);

// Resizes `block`, which is not null and not ours; the result is not ours either.
[[gnu::cold, gnu::noinline]] void* underlying_realloc(void* block, size_t size);

// 0 if there is no allocator underneath or it cannot say.
[[gnu::cold, gnu::noinline]] size_t underlying_usable_size(const void* block);

// jemalloc's control function, if jemalloc is underneath; else null.
[[gnu::cold, gnu::noinline]] void* underlying_mallctl();

// How many blocks underlying_free() was given so far.
uint64_t foreign_free_count();

}  // namespace hakozuna::os
