// Large blocks as lines use them: the options decide, misuse is reported.
#pragma once

#include <cstddef>

#include "common/core/line.h"
#include "common/mem/large_blocks.h"

namespace hakozuna::core {

// What a line returns when there is no memory: null, and errno is ENOMEM.
void* out_of_memory();

// A large block, or out_of_memory().
void* allocate_large(size_t size, size_t alignment, bool zeroed);

// Frees the large block that covers `address`. Reports misuse if that is not its start or if it is not live.
void deallocate_large(const char* line_name, mem::LargeBlock* large, void* address, const char* operation);

// Makes a live block hold `size`, in place or with its pages at another address; null if that cannot be done.
void* resize_large(mem::LargeBlock* large, size_t size);

// What an address in the mapping of a large block is.
Classification classify_large(const mem::LargeBlock* large, const void* address);

}  // namespace hakozuna::core
