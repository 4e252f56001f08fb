// Memory for the allocator's own records: never on the user's pages, never from another allocator, never given back.
//
// Because it is never given back, a record keeps its type for ever: a thread that still holds a pointer to a record whose object is gone
// reads a record of the same type, not garbage. Users keep free lists of their own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/os/lock.h"

namespace hakozuna::mem {

class Metadata {
 public:
  constexpr Metadata() = default;

  // Zeroed memory, aligned to a cache line, of any size up to kArenaBytes. Null if the system has none.
  void* allocate(size_t bytes);

  uint64_t mapped_bytes();

  os::Lock& lock() { return lock_; }

 private:
  // Bytes asked of the system at a time: mapping costs nothing until it is touched, so large enough that mapping is rare.
  static constexpr size_t kArenaBytes = size_t{1} << 20;

  os::Lock lock_{os::Rank::kMetadata};
  char* next_ = nullptr;
  char* end_ = nullptr;
  uint64_t mapped_bytes_ = 0;
};

extern Metadata metadata;

}  // namespace hakozuna::mem
