#include "common/mem/chunk_supply.h"

#include "common/os/os.h"

namespace hakozuna::mem {

constinit ChunkSupply chunk_supply;

namespace {

// Runs detached from the lists in one go when purging, so that the system calls happen outside the lock, and neighbours share one: 16 threads that end
// have some 100 blocks between them, and a call stops all other threads to have them forget their translations (tens of microseconds under some
// hypervisors).
constexpr uint32_t kPurgeBatch = 128;

}  // namespace

// Insertion sort: they are few, and partly in order.
void ChunkSupply::sort_by_address(DetachedRun* runs, uint32_t count) {
  for (uint32_t i = 1; i < count; ++i) {
    const DetachedRun run = runs[i];
    uint32_t at = i;
    for (; at > 0 && runs[at - 1].id > run.id; --at) runs[at] = runs[at - 1];
    runs[at] = run;
  }
}

bool ChunkSupply::initialise(size_t line_record_bytes) {
  os::LockGuard guard(lock_);
  return regions_.initialise(line_record_bytes);
}

ChunkId ChunkSupply::take_new(uint32_t order, uint64_t limit_bytes) {
  unsettle();
  if (const ChunkId run = free_.take(order, /*warm=*/false)) return run;
  const ChunkId block = regions_.grow(limit_bytes);
  if (block == kNoChunk) return kNoChunk;
  free_.insert(block, kMaxRunOrder, 0);
  return free_.take(order, /*warm=*/false);
}

char* ChunkSupply::allocate_run(uint32_t order, uint64_t limit_bytes) {
  os::LockGuard guard(lock_);
  ChunkId run = free_.take(order, /*warm=*/true);
  if (run == kNoChunk) run = take_new(order, limit_bytes);
  return run == kNoChunk ? nullptr : regions_.address(run);
}

char* ChunkSupply::allocate_warm_run(uint32_t order) {
  os::LockGuard guard(lock_);
  const ChunkId run = free_.take(order, /*warm=*/true);
  return run == kNoChunk ? nullptr : regions_.address(run);
}

char* ChunkSupply::allocate_cold_run(uint32_t order, uint64_t limit_bytes, uint32_t& order_found) {
  os::LockGuard guard(lock_);
  for (order_found = kMaxRunOrder; order_found > order; --order_found) {
    if (free_.first(order_found, /*warm=*/false) != kNoChunk) break;
  }
  if (free_.first(order_found, /*warm=*/false) == kNoChunk) order_found = kMaxRunOrder;
  const ChunkId run = take_new(order_found, limit_bytes);
  return run == kNoChunk ? nullptr : regions_.address(run);
}

char* ChunkSupply::split_run(char* run) {
  const ChunkId first = regions_.id_of(run);
  os::LockGuard guard(lock_);
  const uint32_t order = regions_.record(first).order - 1u;
  const ChunkId second = first + (ChunkId{1} << order);
  regions_.record(second).order = order;
  regions_.record(second).line_records_used = 1;
  regions_.record(second).state = ChunkRecord::kUsed;
  regions_.record(first).order = order;
  return regions_.address(second);
}

bool ChunkSupply::release_run(char* run, uint32_t order, uint64_t now_ms, uint64_t retain_bytes) {
  // Purged in portions when settled: a system call for each run would cost more than the runs.
  constexpr uint64_t kPortion = size_t{256} << 10;
  const ChunkId id = regions_.id_of(run);
  {
    os::LockGuard guard(lock_);
    free_.insert(id, order, static_cast<uint32_t>(now_ms));
    if (free_.warm_bytes() <= retain_bytes) return false;
    if (!settled() || free_.warm_bytes() < retain_bytes + kPortion) {
      return !purge_pending_.exchange(true, std::memory_order_relaxed);
    }
  }
  purge(now_ms, 0, retain_bytes);
  return false;
}

size_t ChunkSupply::settle(uint64_t retain_bytes) {
  settled_.store(true, std::memory_order_relaxed);
  return purge(0, 0, retain_bytes);
}

size_t ChunkSupply::purge(uint64_t now_ms, uint64_t delay_ms, uint64_t retain_bytes) {
  size_t purged = 0;
  for (;;) {
    DetachedRun batch[kPurgeBatch];
    uint32_t count = 0;
    {
      os::LockGuard guard(lock_);
      while (count < kPurgeBatch && free_.warm_bytes() > retain_bytes) {
        const ChunkId run = free_.find_old(static_cast<uint32_t>(now_ms), delay_ms);
        if (run == kNoChunk) break;
        free_.remove(run);
        regions_.record(run).state = ChunkRecord::kUsed;  // a forked child, where nobody goes on here, finds it
        batch[count++] = {run, regions_.record(run).order};
      }
      if (count == 0) purge_pending_.store(free_.warm_bytes() > retain_bytes, std::memory_order_relaxed);
    }
    if (count == 0) break;
    purged += discard_runs(batch, count);
    os::LockGuard guard(lock_);
    for (uint32_t i = 0; i < count; ++i) {
      free_.insert(batch[i].id, batch[i].order, static_cast<uint32_t>(now_ms));
    }
  }
  if (purged != 0) discard_idle_line_records();
  return purged;
}

// Returns the pages of runs that were taken off the lists.
size_t ChunkSupply::discard_runs(DetachedRun* runs, uint32_t count) {
  sort_by_address(runs, count);
  size_t total = 0;
  for (uint32_t i = 0; i < count;) {
    const ChunkId start = runs[i].id;
    ChunkId end = start;
    for (; i < count && runs[i].id == end; ++i) {
      total += regions_.resident_bytes(end, runs[i].order);
      end += ChunkId{1} << runs[i].order;
    }
    // In this order: a child that is forked in between takes memory that is gone for resident, which is harmless; the other way round it would take
    // what the run held for zeros.
    os::discard(regions_.address(start), size_t{end - start} << kChunkShift);
    for (ChunkId id = start; id < end; ++id) regions_.record(id).resident.store(0, std::memory_order_relaxed);
    purge_calls_.fetch_add(1, std::memory_order_relaxed);
  }
  purged_bytes_.fetch_add(total, std::memory_order_relaxed);
  return total;
}

// Returns the pages of the line's records of blocks that are free and without memory: 4 KiB for each 2 MiB that was once in use.
void ChunkSupply::discard_idle_line_records() {
  const size_t bytes = kBlockChunks * regions_.line_record_bytes();
  const MayDiscardRecords may_discard = may_discard_records_.load(std::memory_order_relaxed);
  if (!may_discard || !is_aligned(bytes, os::page_bytes())) return;
  for (;;) {
    DetachedRun batch[kPurgeBatch];
    uint32_t count = 0;
    {
      os::LockGuard guard(lock_);
      ChunkId next = kNoChunk;
      for (ChunkId block = free_.first(kMaxRunOrder, /*warm=*/false); block != kNoChunk && count < kPurgeBatch;
           block = next) {
        ChunkRecord& record = regions_.record(block);
        next = record.next;
        if (!record.line_records_used) continue;
        free_.remove(block);
        record.line_records_used = 0;
        record.state = ChunkRecord::kUsed;  // as in purge()
        batch[count++] = {block, kMaxRunOrder};
      }
    }
    if (count == 0) return;
    sort_by_address(batch, count);
    char* start = nullptr;  // of a stretch of records to return
    char* end = nullptr;
    for (uint32_t i = 0; i < count; ++i) {
      char* const records = regions_.line_record(batch[i].id);
      if (!may_discard(records, kBlockChunks)) continue;
      if (records != end) {
        if (end) os::discard(start, static_cast<size_t>(end - start));
        start = records;
      }
      end = records + bytes;
    }
    if (end) os::discard(start, static_cast<size_t>(end - start));
    os::LockGuard guard(lock_);
    for (uint32_t i = 0; i < count; ++i) free_.insert(batch[i].id, kMaxRunOrder, 0);
  }
}

ChunkSupply::Totals ChunkSupply::totals() {
  os::LockGuard guard(lock_);
  Totals totals;
  for (uint32_t i = 0; i < regions_.count(); ++i) {
    const Region& region = regions_.region(i);
    const char* const end = region.base + region.committed.load(std::memory_order_relaxed);
    totals.reserved += region.bytes;
    totals.committed_runs += static_cast<uint64_t>(end - region.first_run);
    totals.free_runs.untouched += static_cast<uint64_t>(end - region.carved);
  }
  totals.metadata = regions_.mapped_bytes() - totals.committed_runs;
  for (const bool warm : {false, true}) {
    for (uint32_t order = 0; order < kOrders; ++order) {
      for (ChunkId run = free_.first(order, warm); run != kNoChunk; run = regions_.record(run).next) {
        const Residency part = residency(run, order);
        totals.free_runs.resident += part.resident;
        totals.free_runs.returned += part.returned;
        totals.free_runs.untouched += part.untouched;
      }
    }
  }
  totals.purge_calls = purge_calls_.load(std::memory_order_relaxed);
  totals.purged_bytes = purged_bytes_.load(std::memory_order_relaxed);
  return totals;
}

}  // namespace hakozuna::mem
