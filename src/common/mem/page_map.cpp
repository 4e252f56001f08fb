#include "common/mem/page_map.h"

#include "common/os/os.h"

namespace hakozuna::mem {

constinit PageMap page_map;

bool PageMap::ensure_leaves(uintptr_t first_granule, uintptr_t last_granule) {
  for (uintptr_t i = first_granule >> kLeafBits; i <= last_granule >> kLeafBits; ++i) {
    if (root_[i].load(std::memory_order_relaxed)) continue;  // seen under the lock below if it is new
    os::LockGuard guard(lock_);
    if (root_[i].load(std::memory_order_relaxed)) continue;
    void* const leaf = os::map(sizeof(Leaf), os::page_bytes());
    if (!leaf) return false;
    os::hint_huge_pages(leaf, sizeof(Leaf), os::HugePageHint::kNever);
    mapped_bytes_.fetch_add(sizeof(Leaf), std::memory_order_relaxed);
    // release: pairs with find(); the fresh mapping is zero, which means "nothing here".
    root_[i].store(static_cast<Leaf*>(leaf), std::memory_order_release);
  }
  return true;
}

bool PageMap::prepare(const void* start, size_t bytes) {
  const uintptr_t first = reinterpret_cast<uintptr_t>(start) >> kChunkShift;
  const uintptr_t last = (reinterpret_cast<uintptr_t>(start) + bytes - 1) >> kChunkShift;
  return last >> (kRootBits + kLeafBits) == 0 && ensure_leaves(first, last);
}

bool PageMap::set(const void* start, size_t bytes, Kind kind, void* object) {
  if (!prepare(start, bytes)) return false;
  const uintptr_t first = reinterpret_cast<uintptr_t>(start) >> kChunkShift;
  const uintptr_t last = (reinterpret_cast<uintptr_t>(start) + bytes - 1) >> kChunkShift;
  const uintptr_t word = reinterpret_cast<uintptr_t>(object) | static_cast<uintptr_t>(kind);
  for (uintptr_t granule = first; granule <= last; ++granule) {
    Leaf* const leaf = root_[granule >> kLeafBits].load(std::memory_order_acquire);
    // release: pairs with find().
    leaf->entries[granule & (kLeafEntries - 1)].store(word, std::memory_order_release);
  }
  return true;
}

}  // namespace hakozuna::mem
