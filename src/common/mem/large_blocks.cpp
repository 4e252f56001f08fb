#include "common/mem/large_blocks.h"

#include <string.h>

#include "common/mem/budget.h"
#include "common/mem/metadata.h"
#include "common/os/os.h"

namespace hakozuna::mem {

constinit LargeBlocks large_blocks;

namespace {

// Cached blocks looked at for a fit. A program that reuses large sizes uses few of them; a longer search costs more than a mapping.
constexpr int kLongestSearch = 64;

// From here on zeroing by returning the pages is cheaper than by writing them: a fault costs about as much as clearing 16 KiB, and the
// program may not touch all of it.
constexpr size_t kZeroByDiscard = size_t{1} << 20;

}  // namespace

LargeBlock* LargeBlocks::new_record() {
  {
    os::LockGuard guard(lock_);
    if (LargeBlock* const record = free_records_) {
      free_records_ = record->next;
      return record;
    }
  }
  return static_cast<LargeBlock*>(metadata.allocate(sizeof(LargeBlock)));
}

void LargeBlocks::count_live(const LargeBlock* block) {
  live_bytes_.fetch_add(block->usable, std::memory_order_relaxed);
  slack_bytes_.fetch_add(block->bytes - block->usable, std::memory_order_relaxed);
}

void LargeBlocks::count_not_live(const LargeBlock* block) {
  live_bytes_.fetch_sub(block->usable, std::memory_order_relaxed);
  slack_bytes_.fetch_sub(block->bytes - block->usable, std::memory_order_relaxed);
}

LargeBlock* LargeBlocks::take_cached(size_t bytes, size_t alignment) {
  os::LockGuard guard(lock_);
  LargeBlock* best = nullptr;
  LargeBlock* block = cached_.first();
  for (int i = 0; block && i < kLongestSearch; ++i, block = block->next) {
    if (block->bytes < bytes || block->bytes - bytes > bytes / 8) continue;
    if (!is_aligned(reinterpret_cast<uintptr_t>(block->start), alignment)) continue;
    if (!best || block->bytes < best->bytes) best = block;
    if (best->bytes == bytes) break;
  }
  if (!best) return nullptr;
  cached_.remove(best);
  cached_bytes_.fetch_sub(best->bytes, std::memory_order_relaxed);
  best->usable = bytes;
  count_live(best);
  // release: pairs with the acquire of release(): the next owner's free sees a complete record.
  best->state.store(LargeBlock::State::kLive, std::memory_order_release);
  return best;
}

void* LargeBlocks::allocate(size_t bytes, size_t alignment, bool zeroed, const Policy& policy) {
  const size_t mapping = mapping_bytes(bytes);
  if (mapping == 0) return nullptr;
  if (alignment < kChunkBytes) alignment = kChunkBytes;  // so that no two blocks share a granule
  if (LargeBlock* const block = take_cached(mapping, alignment)) {
    if (zeroed && block->bytes >= kZeroByDiscard) {
      os::discard(block->start, block->bytes);
    } else if (zeroed) {
      memset(block->start, 0, block->bytes);
    }
    return block->start;
  }
  if (!within_limit(mapping, policy.limit_bytes)) {
    purge(UINT64_MAX, 0);
    if (!within_limit(mapping, policy.limit_bytes)) return nullptr;
  }
  LargeBlock* const block = new_record();
  if (!block) return nullptr;
  char* start = static_cast<char*>(os::map(mapping, alignment));
  if (!start && purge(UINT64_MAX, 0) != 0) start = static_cast<char*>(os::map(mapping, alignment));
  if (start && !page_map.set(start, mapping, PageMap::Kind::kLargeBlock, block)) {
    os::unmap(start, mapping);
    start = nullptr;
  }
  if (!start) {
    os::LockGuard guard(lock_);
    block->next = free_records_;
    free_records_ = block;
    return nullptr;
  }
  if (policy.huge_pages) os::hint_huge_pages(start, mapping, os::HugePageHint::kPrefer);
  block->start = start;
  block->bytes = mapping;
  block->usable = mapping;
  block->state.store(LargeBlock::State::kLive, std::memory_order_release);  // as in take_cached()
  count_live(block);
  count_mapped(mapping);
  return start;
}

bool LargeBlocks::release(LargeBlock* block, uint64_t now_ms, uint64_t budget_bytes,
                          bool& purge_scheduled) {
  purge_scheduled = false;
  LargeBlock::State expected = LargeBlock::State::kLive;
  // acq_rel: of two frees of the same block one wins; acquire pairs with the store that made it live.
  if (!block->state.compare_exchange_strong(expected, LargeBlock::State::kCached, std::memory_order_acq_rel,
                                            std::memory_order_relaxed)) {
    return false;
  }
  List<LargeBlock> excess;
  {
    os::LockGuard guard(lock_);
    count_not_live(block);
    purge_scheduled = cached_.empty();
    cached_.push_front(block);
    block->freed_at = now_ms;
    uint64_t cached = cached_bytes_.fetch_add(block->bytes, std::memory_order_relaxed) + block->bytes;
    while (cached > budget_bytes) {
      LargeBlock* const oldest = cached_.last();
      cached_.remove(oldest);
      excess.push_back(oldest);
      cached = cached_bytes_.fetch_sub(oldest->bytes, std::memory_order_relaxed) - oldest->bytes;
    }
  }
  while (LargeBlock* const oldest = excess.pop_front()) unmap(oldest);
  return true;
}

void LargeBlocks::unmap(LargeBlock* block) {
  page_map.set(block->start, block->bytes, PageMap::Kind::kNone, nullptr);
  os::unmap(block->start, block->bytes);
  count_unmapped(block->bytes);
  purge_calls_.fetch_add(1, std::memory_order_relaxed);
  purged_bytes_.fetch_add(block->bytes, std::memory_order_relaxed);
  block->state.store(LargeBlock::State::kUnmapped, std::memory_order_relaxed);
  os::LockGuard guard(lock_);
  block->next = free_records_;
  free_records_ = block;
}

size_t LargeBlocks::purge(uint64_t now_ms, uint64_t delay_ms) {
  size_t purged = 0;
  for (;;) {
    LargeBlock* oldest = nullptr;
    {
      os::LockGuard guard(lock_);
      oldest = cached_.last();
      if (!oldest || (delay_ms != 0 && now_ms < oldest->freed_at + delay_ms)) return purged;
      cached_.remove(oldest);
      cached_bytes_.fetch_sub(oldest->bytes, std::memory_order_relaxed);
    }
    purged += oldest->bytes;
    unmap(oldest);
  }
}

// Entries of the page map go before the range they are about does: another thread may map there at once and set its own. New ones come afterwards.
char* LargeBlocks::resize_mapping(LargeBlock* block, size_t bytes) {
  constexpr PageMap::Kind kKind = PageMap::Kind::kLargeBlock;
  char* const start = block->start;
  const size_t old_bytes = block->bytes;
  if (bytes < old_bytes) {
    page_map.set(start + bytes, old_bytes - bytes, PageMap::Kind::kNone, nullptr);
    if (os::resize_in_place(start, old_bytes, bytes) == os::Resized::kDone) return start;
    page_map.set(start + bytes, old_bytes - bytes, kKind, block);
    return nullptr;
  }
  const os::Resized resized = os::resize_in_place(start, old_bytes, bytes);
  if (resized == os::Resized::kDone) {
    if (page_map.set(start + old_bytes, bytes - old_bytes, kKind, block)) return start;
    os::resize_in_place(start, bytes, old_bytes);
    return nullptr;
  }
  if (resized == os::Resized::kRefused) return nullptr;
  char* const target = static_cast<char*>(os::reserve(bytes, kChunkBytes));
  if (!target) return nullptr;
  if (!page_map.prepare(target, bytes)) {  // while there is a way back
    os::unmap(target, bytes);
    return nullptr;
  }
  page_map.set(start, old_bytes, PageMap::Kind::kNone, nullptr);
  const bool moved = os::move_pages(start, old_bytes, target, bytes);
  page_map.set(moved ? target : start, moved ? bytes : old_bytes, kKind, block);
  return moved ? target : nullptr;
}

void* LargeBlocks::resize(LargeBlock* block, size_t bytes, const Policy& policy) {
  const size_t mapping = mapping_bytes(bytes);
  if (mapping == 0) return nullptr;
  const size_t old_bytes = block->bytes;
  // Staying is right while at most an eighth is wasted.
  if (mapping <= old_bytes && old_bytes - mapping <= mapping / 8) {
    count_not_live(block);
    block->usable = mapping;
    count_live(block);
    return block->start;
  }
  if (mapping > old_bytes && !within_limit(mapping - old_bytes, policy.limit_bytes)) return nullptr;
  char* const start = resize_mapping(block, mapping);
  if (!start) return nullptr;
  count_not_live(block);
  block->start = start;
  block->bytes = mapping;
  block->usable = mapping;
  count_live(block);
  count_mapped(mapping);
  count_unmapped(old_bytes);
  return start;
}

}  // namespace hakozuna::mem
