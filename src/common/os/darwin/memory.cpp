#include "common/os/memory.h"

#include <mach/vm_statistics.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sysctl.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "common/os/posix/map_pages.h"
#include "common/os/posix/preserve_errno.h"

namespace hakozuna::os {
namespace {

// By this vmmap and Instruments tell our memory from the system's heap.
constexpr int kTag = VM_MAKE_TAG(VM_MEMORY_APPLICATION_SPECIFIC_1);

void* map_at(void* address, size_t bytes, int protection, int flags) {
  void* const mapped = mmap(address, bytes, protection, MAP_PRIVATE | MAP_ANON | MAP_NORESERVE | flags, kTag, 0);
  return mapped == MAP_FAILED ? nullptr : mapped;
}

}  // namespace

void* map_pages(size_t bytes, int protection) { return map_at(nullptr, bytes, protection, 0); }

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
Resized resize_in_place(void* address, size_t old_bytes, size_t new_bytes) {
  if (new_bytes > old_bytes) return Resized::kRefused;
  if (new_bytes < old_bytes) unmap(static_cast<char*>(address) + new_bytes, old_bytes - new_bytes);
  return Resized::kDone;
}

bool move_pages(void*, size_t, void*, size_t) { return false; }

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
