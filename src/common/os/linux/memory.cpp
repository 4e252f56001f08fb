#include "common/os/memory.h"

#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

#include "common/os/posix/map_pages.h"
#include "common/os/posix/preserve_errno.h"

namespace hakozuna::os {

void* map_pages(size_t bytes, int protection) {
  void* const address = mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return address == MAP_FAILED ? nullptr : address;
}

size_t page_bytes() {
  static std::atomic<size_t> cached{0};
  size_t bytes = cached.load(std::memory_order_relaxed);  // a constant: any order of two writers is the same
  if (bytes == 0) {
    bytes = getauxval(AT_PAGESZ);
    if (bytes == 0) bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    cached.store(bytes, std::memory_order_relaxed);
  }
  return bytes;
}

void unmap(void* address, size_t bytes) {
  PreserveErrno preserve;
  // Fails only when the split would exceed vm.max_map_count; then at least the memory goes back.
  if (munmap(address, bytes) != 0) madvise(address, bytes, MADV_DONTNEED);
}

void discard(void* address, size_t bytes) {
  PreserveErrno preserve;
  // DONTNEED, not FREE: people and containers judge a program by its RSS, which FREE leaves high. It fails for locked memory
  // (mlockall): then the contents must still become zero, which is what our callers rely on.
  if (madvise(address, bytes, MADV_DONTNEED) != 0) {
    volatile char* const start = static_cast<volatile char*>(address);
    for (size_t i = 0; i < bytes; ++i) start[i] = 0;
  }
}

bool populate(void* address, size_t bytes) {
  PreserveErrno preserve;
#if defined(MADV_POPULATE_WRITE)
  constexpr int kPopulateWrite = MADV_POPULATE_WRITE;
#else
  constexpr int kPopulateWrite = 23;  // since Linux 5.14; older ones refuse it
#endif
  if (madvise(address, bytes, kPopulateWrite) == 0) return true;
  // It may have given up half-way, but not where it is unknown.
  if (errno != EINVAL) madvise(address, bytes, MADV_DONTNEED);
  return false;
}

Resized resize_in_place(void* address, size_t old_bytes, size_t new_bytes) {
  PreserveErrno preserve;
  if (mremap(address, old_bytes, new_bytes, 0) != MAP_FAILED) return Resized::kDone;
  // Anything else than a lack of room (a part of the range locked or protected by the program) would also be said to a move.
  return errno == ENOMEM && new_bytes > old_bytes ? Resized::kNoRoom : Resized::kRefused;
}

// Where the kernel (up to 6.16) notices only after unmapping the target that the pages cannot move, another thread may have mapped there by now:
// the target must not be unmapped. It is address space, not memory.
bool move_pages(void* address, size_t old_bytes, void* target, size_t new_bytes) {
  PreserveErrno preserve;
  return mremap(address, old_bytes, new_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, target) != MAP_FAILED;
}

void hint_huge_pages(void* address, size_t bytes, HugePageHint hint) {
  PreserveErrno preserve;
  madvise(address, bytes, hint == HugePageHint::kNever ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
}

size_t physical_memory_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  return pages > 0 ? static_cast<size_t>(pages) * page_bytes() : size_t{1} << 30;
}

size_t address_space_limit_bytes() {
  rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return SIZE_MAX;
  return limit.rlim_cur;
}

}  // namespace hakozuna::os
