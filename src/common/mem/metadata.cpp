#include "common/mem/metadata.h"

#include "common/arch/arch.h"
#include "common/base/base.h"
#include "common/os/os.h"

namespace hakozuna::mem {

constinit Metadata metadata;

void* Metadata::allocate(size_t bytes) {
  bytes = align_up(bytes, arch::kCacheLineBytes);
  HAKOZUNA_CHECK(bytes <= kArenaBytes, "a record fits an arena");
  os::LockGuard guard(lock_);
  if (static_cast<size_t>(end_ - next_) < bytes) {
    char* const arena = static_cast<char*>(os::map(kArenaBytes, os::page_bytes()));
    if (!arena) return nullptr;
    os::hint_huge_pages(arena, kArenaBytes, os::HugePageHint::kNever);
    mapped_bytes_ += kArenaBytes;
    next_ = arena;
    end_ = arena + kArenaBytes;
  }
  void* const record = next_;
  next_ += bytes;
  return record;
}

uint64_t Metadata::mapped_bytes() {
  os::LockGuard guard(lock_);
  return mapped_bytes_;
}

}  // namespace hakozuna::mem
