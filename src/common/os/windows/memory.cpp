#include "common/os/memory.h"

#include <string.h>
#include <windows.h>

#include <atomic>

#include "common/base/bits.h"
#include "common/os/windows/last_error.h"

namespace hakozuna::os {
namespace {

// VirtualFree() releases whole reservations by their first address, so an aligned one is not cut out of a larger one: a larger one says where there
// is room, and is given back before its aligned part is asked for. Another thread may be quicker to take the place; then again.
constexpr int kPlacementAttempts = 16;

void* allocate_aligned(size_t bytes, size_t alignment, DWORD type, DWORD protection) {
  PreserveLastError preserve;
  void* const first_try = VirtualAlloc(nullptr, bytes, type, protection);
  if (!first_try || is_aligned(reinterpret_cast<uintptr_t>(first_try), alignment)) return first_try;
  VirtualFree(first_try, 0, MEM_RELEASE);

  const size_t padded = bytes + alignment;
  if (padded < bytes) return nullptr;
  for (int attempt = 0; attempt < kPlacementAttempts; ++attempt) {
    char* const room = static_cast<char*>(VirtualAlloc(nullptr, padded, MEM_RESERVE, PAGE_NOACCESS));
    if (!room) return nullptr;
    VirtualFree(room, 0, MEM_RELEASE);
    if (void* const aligned = VirtualAlloc(align_up(room, alignment), bytes, type, protection)) return aligned;
  }
  return nullptr;
}

}  // namespace

size_t page_bytes() {
  static std::atomic<size_t> cached{0};
  size_t bytes = cached.load(std::memory_order_relaxed);  // a constant: any order of two writers is the same
  if (bytes == 0) {
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    bytes = info.dwPageSize;
    cached.store(bytes, std::memory_order_relaxed);
  }
  return bytes;
}

void* reserve(size_t bytes, size_t alignment) { return allocate_aligned(bytes, alignment, MEM_RESERVE, PAGE_NOACCESS); }

void* map(size_t bytes, size_t alignment) {
  return allocate_aligned(bytes, alignment, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

bool commit(void* address, size_t bytes) {
  PreserveLastError preserve;
  // Pages that make_readable() has committed already become writable by this too.
  return VirtualAlloc(address, bytes, MEM_COMMIT, PAGE_READWRITE) != nullptr;
}

// There are no pages without a commit charge here: this charges, but takes no memory. address_space_limit_bytes() keeps it small.
bool make_readable(void* address, size_t bytes) {
  PreserveLastError preserve;
  return VirtualAlloc(address, bytes, MEM_COMMIT, PAGE_READONLY) != nullptr;
}

void unmap(void* address, size_t) {
  PreserveLastError preserve;
  VirtualFree(address, 0, MEM_RELEASE);
}

// Zeros, then told not to be worth keeping, then out of the working set. Decommitting and committing again would also give zeros, but other
// threads that look at a record would fault in between, and the second step may be refused; and the charge is the same in the end.
// A page that MEM_RESET has dropped reads as zero, one that it has not dropped holds the zeros written here.
void discard(void* address, size_t bytes) {
  PreserveLastError preserve;
  memset(address, 0, bytes);
  VirtualAlloc(address, bytes, MEM_RESET, PAGE_READWRITE);
  VirtualUnlock(address, bytes);  // of pages that are not locked: takes them out of the working set, and says that they were not locked
}

bool populate(void*, size_t) { return false; }  // the system has no call for it

Resized resize_in_place(void*, size_t, size_t) { return Resized::kRefused; }
bool move_pages(void*, size_t, void*, size_t) { return false; }  // pages cannot move

void hint_huge_pages(void*, size_t, HugePageHint) {}  // large pages are a privilege, and for whole reservations only

size_t physical_memory_bytes() {
  PreserveLastError preserve;
  MEMORYSTATUSEX status;
  status.dwLength = sizeof status;
  return GlobalMemoryStatusEx(&status) ? static_cast<size_t>(status.ullTotalPhys) : size_t{1} << 30;
}

// Not a limit of the system's: the first region is a quarter of this, and some 1/500 of that is charged for its records at once.
size_t address_space_limit_bytes() { return size_t{64} << 30; }

}  // namespace hakozuna::os
