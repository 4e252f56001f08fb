// Blocks above the size classes: each a mapping of its own, in multiples of a chunk, found through the page map.
//
// A freed block stays mapped for reuse (cached) within a byte budget, and is unmapped when it has been idle for a while. Its record is
// never given back, so that a late free() of the same block finds a record that says "freed". Reuse takes the best fit and
// wastes at most an eighth.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "common/base/base.h"
#include "common/mem/page_map.h"
#include "common/os/lock.h"

namespace hakozuna::mem {

struct LargeBlock {
  enum class State : uint8_t { kUnmapped, kLive, kCached };

  LargeBlock* next;
  LargeBlock* previous;
  char* start;
  size_t bytes;                // of the mapping, a multiple of a chunk
  size_t usable;               // what malloc_usable_size() says: up to an eighth less for a reused mapping
  uint64_t freed_at;           // ms
  std::atomic<State> state;    // kLive -> kCached by whoever frees it (exchange: the one that sees kLive wins)
};

class LargeBlocks {
 public:
  constexpr LargeBlocks() = default;

  struct Policy {
    uint64_t limit_bytes;  // see budget.h
    bool huge_pages;
  };

  // A block of at least `bytes`, aligned to `alignment`; zeroed if `zeroed`. Null if the system has no memory.
  void* allocate(size_t bytes, size_t alignment, bool zeroed, const Policy& policy);

  // The record of the large block whose mapping covers `address`, live or cached; null if there is none.
  LargeBlock* find(const void* address) const {
    const PageMap::Entry entry = page_map.find(address);
    return entry.kind == PageMap::Kind::kLargeBlock ? static_cast<LargeBlock*>(entry.object) : nullptr;
  }

  // Frees a block. False if it was not live: a double free. `purge_scheduled`: cached bytes went above 0.
  bool release(LargeBlock* block, uint64_t now_ms, uint64_t budget_bytes, bool& purge_scheduled);

  // Makes a live block hold `bytes`, in place or by moving its pages; null if that cannot be done, the block is then unchanged.
  void* resize(LargeBlock* block, size_t bytes, const Policy& policy);

  // Unmaps what has been cached for `delay_ms`. Returns the bytes.
  size_t purge(uint64_t now_ms, uint64_t delay_ms);
  bool purge_pending() const { return cached_bytes_.load(std::memory_order_relaxed) != 0; }

  // Usable bytes of live blocks, and what their mappings have beyond.
  uint64_t live_bytes() const { return live_bytes_.load(std::memory_order_relaxed); }
  uint64_t slack_bytes() const { return slack_bytes_.load(std::memory_order_relaxed); }
  uint64_t cached_bytes() const { return cached_bytes_.load(std::memory_order_relaxed); }
  uint64_t purge_calls() const { return purge_calls_.load(std::memory_order_relaxed); }
  uint64_t purged_bytes() const { return purged_bytes_.load(std::memory_order_relaxed); }

  os::Lock& lock() { return lock_; }

  // The mapping of a request, at least a chunk; 0 if it exceeds PTRDIFF_MAX.
  static size_t mapping_bytes(size_t bytes) {
    if (bytes > static_cast<size_t>(PTRDIFF_MAX) - kChunkBytes) return 0;
    return bytes == 0 ? kChunkBytes : align_up(bytes, kChunkBytes);
  }

 private:
  // Makes the block's mapping have `bytes`, where it is or elsewhere; null if it stays as it was.
  static char* resize_mapping(LargeBlock* block, size_t bytes);

  LargeBlock* new_record();
  LargeBlock* take_cached(size_t bytes, size_t alignment);
  void unmap(LargeBlock* block);
  void count_live(const LargeBlock* block);
  void count_not_live(const LargeBlock* block);

  os::Lock lock_{os::Rank::kLargeBlocks};
  List<LargeBlock> cached_;             // most recently freed first
  LargeBlock* free_records_ = nullptr;  // linked by next
  // Changed under the lock or by atomic adds; read without: statistics and hints, relaxed.
  std::atomic<uint64_t> live_bytes_{0};
  std::atomic<uint64_t> slack_bytes_{0};
  std::atomic<uint64_t> cached_bytes_{0};
  std::atomic<uint64_t> purge_calls_{0};
  std::atomic<uint64_t> purged_bytes_{0};
};

extern LargeBlocks large_blocks;

}  // namespace hakozuna::mem
