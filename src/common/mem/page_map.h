// Which of our objects an address belongs to, for everything that is not in the primary region: a radix tree over the 48-bit address
// space with one entry a 64 KiB granule.
//
// Reading takes no lock and may race with writing: an entry is one atomic word. Whoever writes an entry owns the granule.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "common/mem/size_classes.h"
#include "common/os/lock.h"

namespace hakozuna::mem {

class PageMap {
 public:
  // What stands behind an entry; kept in the low bits of the pointer.
  enum class Kind : uintptr_t { kNone = 0, kLargeBlock = 1, kRegion = 2 };
  struct Entry {
    Kind kind;
    void* object;
  };

  constexpr PageMap() = default;

  Entry find(const void* address) const {
    const uintptr_t granule = reinterpret_cast<uintptr_t>(address) >> kChunkShift;
    if (granule >> (kRootBits + kLeafBits) != 0) return {Kind::kNone, nullptr};
    // acquire: pairs with the release that published the leaf.
    const Leaf* const leaf = root_[granule >> kLeafBits].load(std::memory_order_acquire);
    if (!leaf) return {Kind::kNone, nullptr};
    // acquire: pairs with set(): the object was complete before its entries were.
    const uintptr_t word = leaf->entries[granule & (kLeafEntries - 1)].load(std::memory_order_acquire);
    return {static_cast<Kind>(word & kKindMask), reinterpret_cast<void*>(word & ~kKindMask)};
  }

  // Sets the entries of [start, start + bytes), rounded out to whole granules. The object is aligned to 4 bytes. False if there was no
  // memory for the tree: then no entry has changed. Clearing (Kind::kNone) cannot fail where it was set before.
  bool set(const void* start, size_t bytes, Kind kind, void* object);

  // Whether there is memory for the entries of the range. Then set() cannot fail there.
  bool prepare(const void* start, size_t bytes);

  uint64_t mapped_bytes() const { return mapped_bytes_.load(std::memory_order_relaxed); }
  os::Lock& lock() { return lock_; }

 private:
  static constexpr uintptr_t kKindMask = 3;
  static constexpr unsigned kLeafBits = 16;  // a leaf covers 4 GiB with 512 KiB of entries, touched only where used
  static constexpr unsigned kRootBits = 48 - kChunkShift - kLeafBits;
  static constexpr size_t kLeafEntries = size_t{1} << kLeafBits;

  struct Leaf {
    std::atomic<uintptr_t> entries[kLeafEntries];
  };

  bool ensure_leaves(uintptr_t first_granule, uintptr_t last_granule);

  std::atomic<Leaf*> root_[size_t{1} << kRootBits] = {};
  os::Lock lock_{os::Rank::kPageMap};        // making leaves
  std::atomic<uint64_t> mapped_bytes_{0};    // relaxed: statistics
};

extern PageMap page_map;

}  // namespace hakozuna::mem
