#include "common/mem/run_cache.h"

#include <new>

#include "common/mem/chunk_supply.h"
#include "common/os/os.h"

namespace hakozuna::mem {

char* RunCache::take_cached(uint32_t order) {
  os::LockGuard guard(lock_);
  for (uint32_t i = count_; i-- > 0;) {
    if (cached_[i].order != order) continue;
    char* const run = cached_[i].run;
    bytes_ -= kChunkBytes << order;
    for (uint32_t j = i + 1; j < count_; ++j) cached_[j - 1] = cached_[j];
    --count_;
    return run;
  }
  return nullptr;
}

// Cold runs work like the supply's lists, with at most one run of each order.
char* RunCache::take_cold(uint32_t order, uint64_t limit_bytes) {
  uint32_t from = order;
  while (from <= kMaxRunOrder && !cold_[from]) ++from;
  char* run = nullptr;
  if (from <= kMaxRunOrder) {
    run = cold_[from];
    cold_[from] = nullptr;
  } else {
    run = chunk_supply.allocate_cold_run(order, limit_bytes, from);
    if (!run) return nullptr;
  }
  for (; from > order; --from) cold_[from - 1] = chunk_supply.split_run(run);
  return run;
}

char* RunCache::take(uint32_t order, uint64_t limit_bytes) {
  if (char* const run = take_cached(order)) return run;
  if (char* const run = chunk_supply.allocate_warm_run(order)) return run;
  return take_cold(order, limit_bytes);
}

RunCache::CachedRun RunCache::remove_oldest() {
  const CachedRun oldest = cached_[0];
  bytes_ -= kChunkBytes << oldest.order;
  for (uint32_t i = 1; i < count_; ++i) cached_[i - 1] = cached_[i];
  --count_;
  return oldest;
}

void RunCache::put(char* run, uint32_t order, uint64_t retain_bytes) {
  const uint32_t now = static_cast<uint32_t>(os::coarse_milliseconds());
  const size_t bytes = kChunkBytes << order;
  // A run of half the budget would push everything else out.
  if (bytes > kMaxBytes / 2) return chunk_supply.release_run_and_request(run, order, now, retain_bytes);
  CachedRun evicted[kMaxRuns];
  uint32_t evicted_count = 0;
  {
    os::LockGuard guard(lock_);
    while (count_ == kMaxRuns || bytes_ + bytes > kMaxBytes) evicted[evicted_count++] = remove_oldest();
    cached_[count_++] = {run, order, now};
    bytes_ += bytes;
  }
  for (uint32_t i = 0; i < evicted_count; ++i) {
    chunk_supply.release_run_and_request(evicted[i].run, evicted[i].order, evicted[i].freed_at, retain_bytes);
  }
}

bool RunCache::give_up(uint32_t before, bool all, uint64_t retain_bytes) {
  CachedRun given_up[kMaxRuns];
  uint32_t given_up_count = 0;
  bool some_stay = false;
  {
    os::LockGuard guard(lock_);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count_; ++i) {
      const CachedRun& entry = cached_[i];
      if (all || static_cast<int32_t>(entry.freed_at - before) < 0) {
        given_up[given_up_count++] = entry;
        bytes_ -= kChunkBytes << entry.order;
      } else {
        cached_[kept++] = entry;
      }
    }
    count_ = kept;
    some_stay = kept != 0;
  }
  for (uint32_t i = 0; i < given_up_count; ++i) {
    chunk_supply.release_run_and_request(given_up[i].run, given_up[i].order, given_up[i].freed_at, retain_bytes);
  }
  return some_stay;
}

void RunCache::give_up_cold(uint64_t retain_bytes) {
  const uint32_t now = static_cast<uint32_t>(os::coarse_milliseconds());
  for (uint32_t order = 0; order <= kMaxRunOrder; ++order) {
    if (cold_[order]) chunk_supply.release_run_and_request(cold_[order], order, now, retain_bytes);
    cold_[order] = nullptr;
  }
}

bool RunCache::keeps(const char* run) const {
  for (const char* const cold : cold_) {
    if (cold == run) return true;
  }
  for (uint32_t i = 0; i < count_; ++i) {
    if (cached_[i].run == run) return true;
  }
  return false;
}

void RunCache::forget_after_fork() { new (this) RunCache; }

}  // namespace hakozuna::mem
