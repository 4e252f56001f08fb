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

// Backs a committed range that has no memory with memory now, which is cheaper than a fault for each page. False if the system cannot: the range is
// then as it was.
bool populate(void* address, size_t bytes);

// Resizes a mapping made by map() where it is; the new bytes are zero. If that cannot be done the mapping is as it was.
enum class Resized {
  kDone,
  kNoRoom,   // something is in the way: its pages may still be moved
  kRefused,  // nor can they be moved
};
Resized resize_in_place(void* address, size_t old_bytes, size_t new_bytes);

// Moves the pages of a mapping made by map() to a larger range, which reserve() has made and whose place they take; the new bytes are zero. False if
// that cannot be done: the mapping is as it was, and the target is lost, since some systems have given it away by then.
bool move_pages(void* address, size_t old_bytes, void* target, size_t new_bytes);

// Whether the kernel may (or should) back a range with huge pages.
enum class HugePageHint : uint8_t { kNever, kPrefer };
void hint_huge_pages(void* address, size_t bytes, HugePageHint hint);

// Limits, for choosing how much to reserve: physical memory in bytes, and the address space this process may still map
// (RLIMIT_AS), SIZE_MAX if unlimited.
size_t physical_memory_bytes();
size_t address_space_limit_bytes();

}  // namespace hakozuna::os
