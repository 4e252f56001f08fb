#include "common/os/memory.h"

#include <errno.h>
#include <mach/vm_statistics.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sysctl.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "common/base/bits.h"

namespace hakozuna::os {
namespace {

// errno belongs to the program: malloc that succeeds and free leave it as it was.
class PreserveErrno {
 public:
  PreserveErrno() : saved_(errno) {}
  ~PreserveErrno() { errno = saved_; }
  PreserveErrno(const PreserveErrno&) = delete;
  PreserveErrno& operator=(const PreserveErrno&) = delete;

 private:
  const int saved_;
};

// By this vmmap and Instruments tell our memory from the system's heap.
constexpr int kTag = VM_MAKE_TAG(VM_MEMORY_APPLICATION_SPECIFIC_1);

void* map_at(void* address, size_t bytes, int protection, int flags) {
  void* const mapped = mmap(address, bytes, protection, MAP_PRIVATE | MAP_ANON | MAP_NORESERVE | flags, kTag, 0);
  return mapped == MAP_FAILED ? nullptr : mapped;
}

void* map_aligned(size_t bytes, size_t alignment, int protection) {
  PreserveErrno preserve;
  // The kernel places mappings at the first gap that is large enough: after one aligned mapping of an aligned size the next is often aligned.
  void* const first_try = map_at(nullptr, bytes, protection, 0);
  if (!first_try || is_aligned(reinterpret_cast<uintptr_t>(first_try), alignment)) return first_try;
  munmap(first_try, bytes);

  const size_t padded = bytes + alignment;
  if (padded < bytes) return nullptr;
  char* const start = static_cast<char*>(map_at(nullptr, padded, protection, 0));
  if (!start) return nullptr;
  char* const aligned = align_up(start, alignment);
  if (aligned != start) munmap(start, static_cast<size_t>(aligned - start));
  const size_t tail = static_cast<size_t>(start + padded - (aligned + bytes));
  if (tail != 0) munmap(aligned + bytes, tail);
  return aligned;
}

}  // namespace

// 16 KiB on arm64, 4 KiB on x86_64 and in what Rosetta translates.
size_t page_bytes() {
  static std::atomic<size_t> cached{0};
  size_t bytes = cached.load(std::memory_order_relaxed);  // a constant: any order of two writers is the same
  if (bytes == 0) {
    bytes = static_cast<size_t>(getpagesize());
    cached.store(bytes, std::memory_order_relaxed);
  }
  return bytes;
}

void* reserve(size_t bytes, size_t alignment) { return map_aligned(bytes, alignment, PROT_NONE); }

void* map(size_t bytes, size_t alignment) { return map_aligned(bytes, alignment, PROT_READ | PROT_WRITE); }

bool commit(void* address, size_t bytes) {
  PreserveErrno preserve;
  return mprotect(address, bytes, PROT_READ | PROT_WRITE) == 0;
}

// Nothing is charged in advance here, but there is no page of zeros that all share: a page that is read takes memory from then on.
bool make_readable(void* address, size_t bytes) {
  PreserveErrno preserve;
  return mprotect(address, bytes, PROT_READ) == 0;
}

void unmap(void* address, size_t bytes) {
  PreserveErrno preserve;
  munmap(address, bytes);
}

// A fresh mapping in the place of the old one, which the kernel exchanges in one step. No advice of madvise() does: after MADV_FREE_REUSABLE and
// MADV_FREE the old contents may still be there, and the former counts the pages as free until somebody says MADV_FREE_REUSE, which
// those who touch discarded pages do not. It costs an entry in the process's map for a time; the kernel has no limit on those, and joins
// neighbours that are alike.
void discard(void* address, size_t bytes) {
  PreserveErrno preserve;
  if (map_at(address, bytes, PROT_READ | PROT_WRITE, MAP_FIXED)) return;
  // The contents must become zero all the same, which is what our callers rely on.
  volatile char* const start = static_cast<volatile char*>(address);
  for (size_t i = 0; i < bytes; ++i) start[i] = 0;
}

bool populate(void*, size_t) { return false; }  // MADV_WILLNEED reads from files and does nothing for fresh memory

// There is no mremap(): a block that grows is copied by the caller.
void* remap(void* address, size_t old_bytes, size_t new_bytes, size_t) {
  if (new_bytes > old_bytes) return nullptr;
  if (new_bytes < old_bytes) unmap(static_cast<char*>(address) + new_bytes, old_bytes - new_bytes);
  return address;
}

// Large pages are to be asked for when memory is mapped, are wired then, and exist on x86_64 only.
void hint_huge_pages(void*, size_t, HugePageHint) {}

size_t physical_memory_bytes() {
  PreserveErrno preserve;
  uint64_t bytes = 0;
  size_t length = sizeof bytes;
  if (sysctlbyname("hw.memsize", &bytes, &length, nullptr, 0) != 0 || bytes == 0) return size_t{1} << 30;
  return static_cast<size_t>(bytes);
}

size_t address_space_limit_bytes() {
  PreserveErrno preserve;
  rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return SIZE_MAX;
  return static_cast<size_t>(limit.rlim_cur);
}

}  // namespace hakozuna::os
