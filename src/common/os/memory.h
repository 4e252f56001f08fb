// Address space and memory from the operating system.
//
// All functions are thread-safe and lock-free on our side. Addresses and sizes are multiples of page_bytes() unless said otherwise.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hakozuna::os {

// Size of a page of this machine, in bytes: a power of two from 4 KiB to 64 KiB, read from the system once.
size_t page_bytes();

// Address space without access and without memory behind it; null if it cannot be had. `alignment` is a power of two.
void* reserve(size_t bytes, size_t alignment);

// Makes part of a reservation readable and writable; its pages are zero and take memory when touched. False if the system refuses.
bool commit(void* address, size_t bytes);

// Makes part of a reservation readable only: its pages read as zero and take no memory and no commit charge. commit() may follow.
bool make_readable(void* address, size_t bytes);

// reserve() and commit() in one.
void* map(size_t bytes, size_t alignment);

void unmap(void* address, size_t bytes);

// Gives the memory behind a committed range back now: RSS falls at once, and the pages read as zero when touched again.
void discard(void* address, size_t bytes);

// Backs a committed range with memory now, which is cheaper than a fault for each page. False if the system cannot: nothing is lost then.
bool populate(void* address, size_t bytes);

// Resizes a mapping made by map(), moving its pages to another address at that alignment if they must move. Null if it cannot be done;
// the old mapping is then as it was. The new bytes are zero.
void* remap(void* address, size_t old_bytes, size_t new_bytes, size_t alignment);

// Whether the kernel may (or should) back a range with huge pages.
enum class HugePageHint : uint8_t { kNever, kPrefer };
void hint_huge_pages(void* address, size_t bytes, HugePageHint hint);

// Limits, for choosing how much to reserve: physical memory in bytes, and the address space this process may still map
// (RLIMIT_AS), SIZE_MAX if unlimited.
size_t physical_memory_bytes();
size_t address_space_limit_bytes();

}  // namespace hakozuna::os
