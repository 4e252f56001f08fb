#include "common/mem/chunk_supply.h"

#include "common/mem/budget.h"
#include "common/mem/page_map.h"
#include "common/os/os.h"

namespace hakozuna::mem {

constinit ChunkSupply chunk_supply;
constinit char* primary_base = nullptr;
constinit size_t primary_bytes = 0;

namespace {

// Committed at a time: a quarter of what is there, so that the number of system calls grows with the logarithm of the heap.
constexpr size_t kLargestCommitStep = size_t{64} << 20;

// The primary region: twice the physical memory, so that a process does not outgrow it, within these bounds; and no more than a quarter
// of what RLIMIT_AS allows, so that the program's own mappings still find room.
constexpr size_t kLargestRegion = size_t{1} << 40;
constexpr size_t kSmallestRegion = size_t{8} << 20;

// Runs detached from the lists in one go when purging, so that the system calls happen outside the lock.
constexpr uint32_t kPurgeBatch = 32;

// Whether what became free at `freed_at` has been so for `delay_ms` at `now`, which may have been read a little before: then the
// difference has wrapped and it is young, not 49 days old.
bool is_old(uint32_t now, uint32_t freed_at, uint64_t delay_ms) {
  constexpr uint32_t kLateReader = 60'000;  // ms a thread may be held up between reading the clock and coming here
  const uint32_t age = now - freed_at;
  return delay_ms == 0 || (age >= delay_ms && age < UINT32_MAX - kLateReader);
}

uint16_t all_pages() {
  return static_cast<uint16_t>(low_bits(static_cast<uint32_t>(kChunkBytes / os::page_bytes())));
}

// Bits of the pages of chunk number `chunk` (counted from `run`) that overlap [first, end), offsets in the run.
uint16_t overlapping_pages(size_t chunk, size_t first, size_t end) {
  const size_t page = os::page_bytes();
  const size_t low = chunk << kChunkShift;
  const size_t from = first > low ? first - low : 0;
  const size_t to = end < low + kChunkBytes ? end - low : kChunkBytes;
  return static_cast<uint16_t>(
      bit_range(static_cast<uint32_t>(from / page), static_cast<uint32_t>((to - 1) / page)));
}

}  // namespace

bool ChunkSupply::initialise(size_t line_record_bytes) {
  os::LockGuard guard(lock_);
  if (region_count_.load(std::memory_order_relaxed) != 0) return true;
  line_record_bytes_ = line_record_bytes;
  const size_t wanted = size_t{1} << (log2_floor(os::physical_memory_bytes()) + 2);
  const size_t allowed = os::address_space_limit_bytes() / 4;
  size_t bytes = wanted < allowed ? wanted : size_t{1} << log2_floor(allowed | 1);
  if (bytes > kLargestRegion) bytes = kLargestRegion;
  for (; bytes >= kSmallestRegion; bytes /= 2) {
    const Region* const region = add_region(bytes);
    if (!region) continue;
    if (this == &chunk_supply) {
      primary_base = region->base;
      primary_bytes = region->bytes;
    }
    return true;
  }
  return false;
}

Region* ChunkSupply::add_region(size_t bytes) {
  const uint32_t index = region_count_.load(std::memory_order_relaxed);
  if (index == kMaxRegions) return nullptr;
  char* const base = static_cast<char*>(os::reserve(bytes, kBlockBytes));
  if (!base) return nullptr;
  os::hint_huge_pages(base, bytes, os::HugePageHint::kNever);

  const size_t chunks = bytes >> kChunkShift;
  const size_t line_bytes = align_up(chunks * line_record_bytes_, kChunkBytes);
  const size_t record_bytes = align_up(chunks * sizeof(ChunkRecord), kChunkBytes);
  Region& region = regions_[index];
  region.base = base;
  region.bytes = bytes;
  region.chunk_records = reinterpret_cast<ChunkRecord*>(base + line_bytes);
  region.first_run = base + align_up(line_bytes + record_bytes, kBlockBytes);
  region.carved = region.first_run;

  // The records of the chunks that hold the records themselves are committed with the first runs' and stay zero: a pointer into the metadata
  // looks like one into a chunk that nobody owns.
  const size_t head_chunks = static_cast<size_t>(region.first_run - base) >> kChunkShift;
  const size_t page = os::page_bytes();
  const size_t line_head = align_up(head_chunks * line_record_bytes_, page);
  const size_t record_head = align_up(head_chunks * sizeof(ChunkRecord), page);
  if (region.first_run >= base + bytes || !os::make_readable(base, line_bytes) || !os::commit(base, line_head) ||
      !os::commit(region.chunk_records, record_head) ||
      (index != 0 && !page_map.set(base, bytes, PageMap::Kind::kRegion, &region))) {
    os::unmap(base, bytes);
    return nullptr;
  }
  region.committed.store(static_cast<size_t>(region.first_run - base), std::memory_order_release);
  mapped_bytes_ += line_head + record_head;
  count_mapped(line_head + record_head);
  region_count_.store(index + 1, std::memory_order_release);  // pairs with for_each_run()
  return &region;
}

bool ChunkSupply::exceeds(uint64_t limit_bytes, size_t bytes) const {
  const size_t records =
      (bytes >> kChunkShift) * (line_record_bytes_ + sizeof(ChunkRecord)) + 2 * os::page_bytes();  // each rounded up
  return limit_bytes != 0 && mapped_bytes_ + bytes + records > limit_bytes;
}

bool ChunkSupply::commit_more(Region& region, uint64_t limit_bytes) {
  const size_t committed = region.committed.load(std::memory_order_relaxed);
  const size_t runs = committed - static_cast<size_t>(region.first_run - region.base);
  size_t step = align_down(runs / 4, kBlockBytes);
  if (step < kBlockBytes) step = kBlockBytes;
  if (step > kLargestCommitStep) step = kLargestCommitStep;
  const size_t page = os::page_bytes();
  for (; step >= kBlockBytes; step = align_down(step / 2, kBlockBytes)) {
    if (committed + step > region.bytes) continue;
    if (exceeds(limit_bytes, step)) continue;
    const size_t old_chunks = committed >> kChunkShift;
    const size_t new_chunks = (committed + step) >> kChunkShift;
    const size_t line_old = align_up(old_chunks * line_record_bytes_, page);
    const size_t line_new = align_up(new_chunks * line_record_bytes_, page);
    const size_t record_old = align_up(old_chunks * sizeof(ChunkRecord), page);
    const size_t record_new = align_up(new_chunks * sizeof(ChunkRecord), page);
    char* const records = reinterpret_cast<char*>(region.chunk_records);
    if (line_new != line_old && !os::commit(region.base + line_old, line_new - line_old)) continue;
    if (record_new != record_old && !os::commit(records + record_old, record_new - record_old)) continue;
    if (!os::commit(region.base + committed, step)) continue;
    const size_t added = step + (line_new - line_old) + (record_new - record_old);
    mapped_bytes_ += added;
    count_mapped(added);
    // release: whoever sees the new end finds the records below it readable.
    region.committed.store(committed + step, std::memory_order_release);
    return true;
  }
  return false;
}

bool ChunkSupply::carve_block(uint64_t limit_bytes) {
  const uint32_t count = region_count_.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < count; ++i) {
    Region& region = regions_[i];
    const size_t carved = static_cast<size_t>(region.carved - region.base);
    if (carved == region.committed.load(std::memory_order_relaxed)) {
      if (exceeds(limit_bytes, kBlockBytes)) return false;
      if (!commit_more(region, limit_bytes)) continue;
    }
    region.carved += kBlockBytes;
    insert_free(region, carved >> kChunkShift, kMaxRunOrder, 0);
    return true;
  }
  return false;
}

bool ChunkSupply::grow(uint64_t limit_bytes) {
  if (carve_block(limit_bytes)) return true;
  if (exceeds(limit_bytes, kBlockBytes)) return false;
  const uint32_t count = region_count_.load(std::memory_order_relaxed);
  if (count == 0) return false;
  for (size_t bytes = regions_[count - 1].bytes * 2; bytes >= kSmallestRegion; bytes /= 2) {
    if (add_region(bytes)) return carve_block(limit_bytes);
  }
  return false;
}

Region* ChunkSupply::find_region(const void* address) {
  const char* const byte = static_cast<const char*>(address);
  Region* region = &regions_[0];
  if (region_count_.load(std::memory_order_acquire) == 0) return nullptr;  // pairs with add_region()
  if (static_cast<size_t>(byte - region->base) >= region->bytes) {
    const PageMap::Entry entry = page_map.find(address);
    if (entry.kind != PageMap::Kind::kRegion) return nullptr;
    region = static_cast<Region*>(entry.object);
  }
  if (byte < region->first_run) return nullptr;
  if (byte >= region->base + region->committed.load(std::memory_order_acquire)) return nullptr;
  return region;
}

bool ChunkSupply::in_reserved_space(const void* address) {
  const char* const byte = static_cast<const char*>(address);
  const uint32_t count = region_count_.load(std::memory_order_acquire);  // pairs with add_region()
  for (uint32_t i = 0; i < count; ++i) {
    if (byte >= regions_[i].base && byte < regions_[i].base + regions_[i].bytes) return true;
  }
  return false;
}

Region& ChunkSupply::region_of(const ChunkRecord& record) {
  const uint32_t count = region_count_.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i + 1 < count; ++i) {
    const Region& region = regions_[i];
    if (&record >= region.chunk_records && &record < region.chunk_records + (region.bytes >> kChunkShift)) {
      return regions_[i];
    }
  }
  return regions_[count - 1];
}

size_t ChunkSupply::resident_bytes(const ChunkRecord& first) const {
  const ChunkRecord* const records = &first;
  size_t pages = 0;
  for (size_t i = 0; i < size_t{1} << first.order; ++i) {
    pages += static_cast<size_t>(std::popcount(records[i].resident.load(std::memory_order_relaxed)));
  }
  return pages * os::page_bytes();
}

void ChunkSupply::unlink_free(ChunkRecord& record) {
  HAKOZUNA_CHECK(record.state == ChunkRecord::State::kFree, "only free runs are on the lists");
  if (record.warm) warm_bytes_ -= resident_bytes(record);
  (record.warm ? warm_ : cold_)[record.order].remove(&record);
  record.state = ChunkRecord::State::kInside;
}

// Puts the run that starts at `chunk` on its list, joined with its free buddies. The joined run is as old as its oldest part:
// otherwise memory next to a busy run would never be old enough to be returned.
void ChunkSupply::insert_free(Region& region, size_t chunk, uint32_t order, uint32_t freed_at) {
  const size_t origin = static_cast<size_t>(region.first_run - region.base) >> kChunkShift;
  size_t offset = chunk - origin;
  ChunkRecord* const records = region.chunk_records + origin;
  bool warm = false;
  records[offset].order = static_cast<uint8_t>(order);
  warm = resident_bytes(records[offset]) != 0;
  while (order < kMaxRunOrder) {
    ChunkRecord& buddy = records[offset ^ (size_t{1} << order)];
    if (buddy.state != ChunkRecord::State::kFree || buddy.order != order) break;
    unlink_free(buddy);
    if (buddy.warm) {
      const bool older = static_cast<int32_t>(buddy.freed_at - freed_at) < 0;
      if (!warm || older) freed_at = buddy.freed_at;
      warm = true;
    }
    records[offset].state = ChunkRecord::State::kInside;
    offset &= ~(size_t{1} << order);
    ++order;
  }
  ChunkRecord& first = records[offset];
  first.state = ChunkRecord::State::kFree;
  first.order = static_cast<uint8_t>(order);
  first.freed_at = freed_at;
  first.warm = warm;
  if (warm) warm_bytes_ += resident_bytes(first);
  (warm ? warm_ : cold_)[order].push_front(&first);
}

char* ChunkSupply::take(uint32_t order, bool warm) {
  for (uint32_t from = order; from < kOrders; ++from) {
    if (char* const run = take_first(from, order, warm)) return run;
  }
  return nullptr;
}

// A run of `order` out of the first one on the list of `from`; null if that is empty.
char* ChunkSupply::take_first(uint32_t from, uint32_t order, bool warm) {
  ChunkRecord* const found = (warm ? warm_ : cold_)[from].first();
  if (!found) return nullptr;
  unlink_free(*found);
  Region& region = region_of(*found);
  size_t chunk = static_cast<size_t>(found - region.chunk_records);
  const uint32_t freed_at = found->freed_at;
  region.chunk_records[chunk & ~(kBlockChunks - 1)].line_records_used = true;
  // Halve until it fits, keeping the warmer half.
  for (uint32_t split = from; split > order; --split) {
    const size_t half = size_t{1} << (split - 1);
    ChunkRecord& lower = region.chunk_records[chunk];
    ChunkRecord& upper = region.chunk_records[chunk + half];
    lower.order = upper.order = static_cast<uint8_t>(split - 1);
    const bool keep_upper = warm && resident_bytes(lower) == 0;
    lower.state = upper.state = ChunkRecord::State::kInside;
    ChunkRecord& other = keep_upper ? lower : upper;
    other.state = ChunkRecord::State::kFree;
    other.freed_at = freed_at;
    other.warm = resident_bytes(other) != 0;
    if (other.warm) warm_bytes_ += resident_bytes(other);
    (other.warm ? warm_ : cold_)[split - 1].push_front(&other);
    if (keep_upper) chunk += half;
  }
  ChunkRecord& record = region.chunk_records[chunk];
  record.order = static_cast<uint8_t>(order);
  record.state = ChunkRecord::State::kUsed;
  return region.base + (chunk << kChunkShift);
}

char* ChunkSupply::allocate_cold_run(uint32_t order, uint64_t limit_bytes, uint32_t& order_found) {
  os::LockGuard guard(lock_);
  unsettle();
  do {
    for (uint32_t from = kOrders; from-- > order;) {
      if (char* const run = take_first(from, from, /*warm=*/false)) {
        order_found = from;
        return run;
      }
    }
  } while (grow(limit_bytes));
  return nullptr;
}

// Returns the pages of the line's records of blocks that are free and without memory: 4 KiB for each 2 MiB that was once in use.
void ChunkSupply::discard_idle_line_records() {
  const size_t bytes = kBlockChunks * line_record_bytes_;
  if (!may_discard_records_ || !is_aligned(bytes, os::page_bytes())) return;
  for (;;) {
    ChunkRecord* batch[kPurgeBatch];
    uint32_t count = 0;
    {
      os::LockGuard guard(lock_);
      ChunkRecord* next = nullptr;
      for (ChunkRecord* record = cold_[kMaxRunOrder].first(); record && count < kPurgeBatch; record = next) {
        next = record->next;
        if (!record->line_records_used) continue;
        unlink_free(*record);
        record->line_records_used = false;
        record->state = ChunkRecord::State::kUsed;  // as in purge(): a forked child finds it
        batch[count++] = record;
      }
    }
    if (count == 0) return;
    for (uint32_t i = 0; i < count; ++i) {
      const Region& region = region_of(*batch[i]);
      char* const records =
          region.base + static_cast<size_t>(batch[i] - region.chunk_records) * line_record_bytes_;
      if (may_discard_records_(records, kBlockChunks)) os::discard(records, bytes);
    }
    os::LockGuard guard(lock_);
    for (uint32_t i = 0; i < count; ++i) {
      Region& region = region_of(*batch[i]);
      insert_free(region, static_cast<size_t>(batch[i] - region.chunk_records), kMaxRunOrder, 0);
    }
  }
}

char* ChunkSupply::allocate_run(uint32_t order, uint64_t limit_bytes) {
  os::LockGuard guard(lock_);
  char* run = take(order, /*warm=*/true);
  if (run) return run;
  unsettle();
  run = take(order, /*warm=*/false);
  if (!run && grow(limit_bytes)) run = take(order, /*warm=*/false);
  return run;
}

char* ChunkSupply::allocate_warm_run(uint32_t order) {
  os::LockGuard guard(lock_);
  return take(order, /*warm=*/true);
}

char* ChunkSupply::split_run(char* run) {
  Region* const region = find_region(run);
  ChunkRecord* const first = region->chunk_records + (static_cast<size_t>(run - region->base) >> kChunkShift);
  const uint32_t order = first->order - 1u;
  ChunkRecord* const second = first + (size_t{1} << order);
  second->order = static_cast<uint8_t>(order);
  second->state = ChunkRecord::State::kUsed;
  first->order = static_cast<uint8_t>(order);
  return run + (kChunkBytes << order);
}

bool ChunkSupply::release_run(char* run, uint32_t order, uint64_t now_ms, uint64_t retain_bytes) {
  // Purged in portions when settled: a system call for each run would cost more than the runs.
  constexpr uint64_t kPortion = size_t{256} << 10;
  Region* const region = find_region(run);
  {
    os::LockGuard guard(lock_);
    insert_free(*region, static_cast<size_t>(run - region->base) >> kChunkShift, order,
                static_cast<uint32_t>(now_ms));
    if (warm_bytes_ <= retain_bytes) return false;
    if (!settled() || warm_bytes_ < retain_bytes + kPortion) {
      return !purge_pending_.exchange(true, std::memory_order_relaxed);
    }
  }
  purge(now_ms, 0, retain_bytes);
  return false;
}

size_t ChunkSupply::settle(uint64_t retain_bytes) {
  {
    os::LockGuard guard(lock_);
    settled_.store(true, std::memory_order_relaxed);
  }
  return purge(0, 0, retain_bytes);
}

ChunkRecord* ChunkSupply::first_to_purge(uint32_t now, uint64_t delay_ms) {
  for (uint32_t order = kOrders; order-- > 0;) {
    // The oldest are at the end, but for joined runs, which stand where their youngest part put them: look at a few.
    ChunkRecord* record = warm_[order].last();
    for (int looked = 0; record && looked < 8; ++looked, record = record->previous) {
      if (is_old(now, record->freed_at, delay_ms)) return record;
    }
  }
  return nullptr;
}

char* ChunkSupply::run_of(const ChunkRecord& first) {
  const Region& region = region_of(first);
  return region.base + (static_cast<size_t>(&first - region.chunk_records) << kChunkShift);
}

// Returns the pages of runs that were taken off the lists. Neighbours go back in one system call, each of which stops the other threads to have
// them forget their translations.
size_t ChunkSupply::discard_runs(ChunkRecord** runs, uint32_t count) {
  for (uint32_t i = 1; i < count; ++i) {  // insertion sort: few, and partly in order
    ChunkRecord* const run = runs[i];
    uint32_t at = i;
    for (; at > 0 && runs[at - 1] > run; --at) runs[at] = runs[at - 1];
    runs[at] = run;
  }
  size_t total = 0;
  for (uint32_t i = 0; i < count;) {
    char* const start = run_of(*runs[i]);
    char* end = start;
    for (; i < count && run_of(*runs[i]) == end; ++i) {
      total += resident_bytes(*runs[i]);
      end += kChunkBytes << runs[i]->order;
      for (size_t chunk = 0; chunk < size_t{1} << runs[i]->order; ++chunk) {
        runs[i][chunk].resident.store(0, std::memory_order_relaxed);
      }
    }
    os::discard(start, static_cast<size_t>(end - start));
    purge_calls_.fetch_add(1, std::memory_order_relaxed);
  }
  purged_bytes_.fetch_add(total, std::memory_order_relaxed);
  return total;
}

size_t ChunkSupply::purge(uint64_t now_ms, uint64_t delay_ms, uint64_t retain_bytes) {
  size_t purged = 0;
  for (;;) {
    ChunkRecord* batch[kPurgeBatch];
    uint32_t count = 0;
    {
      os::LockGuard guard(lock_);
      while (count < kPurgeBatch && warm_bytes_ > retain_bytes) {
        ChunkRecord* const record = first_to_purge(static_cast<uint32_t>(now_ms), delay_ms);
        if (!record) break;
        unlink_free(*record);
        record->state = ChunkRecord::State::kUsed;
        batch[count++] = record;
      }
      if (count == 0) purge_pending_.store(warm_bytes_ > retain_bytes, std::memory_order_relaxed);
    }
    if (count == 0) {
      if (purged != 0) discard_idle_line_records();
      return purged;
    }
    purged += discard_runs(batch, count);
    os::LockGuard guard(lock_);
    for (uint32_t i = 0; i < count; ++i) {
      Region& region = region_of(*batch[i]);
      insert_free(region, static_cast<size_t>(batch[i] - region.chunk_records), batch[i]->order,
                  static_cast<uint32_t>(now_ms));
    }
  }
}

void ChunkSupply::mark_resident(const char* start, size_t bytes) {
  Region* const region = find_region(start);
  const size_t first = static_cast<size_t>(start - region->base);
  for (size_t chunk = first >> kChunkShift; chunk <= (first + bytes - 1) >> kChunkShift; ++chunk) {
    const uint16_t pages = overlapping_pages(chunk, first, first + bytes);
    ChunkRecord& record = region->chunk_records[chunk];
    // Skipping the write where nothing changes keeps the line shared; bits of these pages are ours to change.
    if ((record.resident.load(std::memory_order_relaxed) & pages) != pages) {
      record.resident.fetch_or(pages, std::memory_order_relaxed);
      record.touched.fetch_or(pages, std::memory_order_relaxed);
    }
  }
}

ChunkSupply::Presence ChunkSupply::presence(const char* start, size_t bytes) {
  Region* const region = find_region(start);
  const size_t first = static_cast<size_t>(start - region->base);
  bool all = true;
  bool none = true;
  for (size_t chunk = first >> kChunkShift; chunk <= (first + bytes - 1) >> kChunkShift; ++chunk) {
    const uint16_t pages = overlapping_pages(chunk, first, first + bytes);
    const uint16_t resident = region->chunk_records[chunk].resident.load(std::memory_order_relaxed) & pages;
    all &= resident == pages;
    none &= resident == 0;
  }
  return none ? Presence::kNone : all ? Presence::kAll : Presence::kPart;
}

size_t ChunkSupply::discard(char* start, size_t bytes) {
  Region* const region = find_region(start);
  const size_t page = os::page_bytes();
  const size_t first = align_up(static_cast<size_t>(start - region->base), page) / page;
  const size_t end = align_down(static_cast<size_t>(start - region->base) + bytes, page) / page;
  const size_t pages_per_chunk = kChunkBytes / page;
  size_t total = 0;
  for (size_t at = first; at < end;) {
    // One system call for each stretch of resident pages.
    const auto resident = [&](size_t index) {
      const ChunkRecord& record = region->chunk_records[index / pages_per_chunk];
      return (record.resident.load(std::memory_order_relaxed) >> (index % pages_per_chunk)) & 1;
    };
    if (!resident(at)) {
      ++at;
      continue;
    }
    size_t stop = at;
    while (stop < end && resident(stop)) ++stop;
    os::discard(region->base + at * page, (stop - at) * page);
    for (size_t index = at; index < stop; ++index) {
      const uint16_t bit = static_cast<uint16_t>(1u << (index % pages_per_chunk));
      region->chunk_records[index / pages_per_chunk].resident.fetch_and(static_cast<uint16_t>(~bit),
                                                                       std::memory_order_relaxed);
    }
    purge_calls_.fetch_add(1, std::memory_order_relaxed);
    total += (stop - at) * page;
    at = stop;
  }
  purged_bytes_.fetch_add(total, std::memory_order_relaxed);
  return total;
}

ChunkSupply::Residency ChunkSupply::residency(const char* run, uint32_t order) {
  Region* const region = find_region(run);
  const size_t first = static_cast<size_t>(run - region->base) >> kChunkShift;
  Residency result;
  const uint64_t page = os::page_bytes();
  for (size_t i = first; i < first + (size_t{1} << order); ++i) {
    const ChunkRecord& record = region->chunk_records[i];
    const uint16_t resident = record.resident.load(std::memory_order_relaxed);
    const uint16_t touched = record.touched.load(std::memory_order_relaxed);
    result.resident += static_cast<uint64_t>(std::popcount(resident)) * page;
    result.returned += static_cast<uint64_t>(std::popcount<uint16_t>(touched & static_cast<uint16_t>(~resident))) * page;
    result.untouched += static_cast<uint64_t>(std::popcount<uint16_t>(all_pages() & static_cast<uint16_t>(~touched))) * page;
  }
  return result;
}

ChunkSupply::Totals ChunkSupply::totals() {
  os::LockGuard guard(lock_);
  Totals totals;
  const uint32_t count = region_count_.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < count; ++i) {
    Region& region = regions_[i];
    totals.reserved += region.bytes;
    const size_t committed = region.committed.load(std::memory_order_relaxed);
    totals.committed_runs += committed - static_cast<size_t>(region.first_run - region.base);
    totals.free_runs.untouched += committed - static_cast<size_t>(region.carved - region.base);
  }
  totals.metadata = mapped_bytes_ - totals.committed_runs;
  for (List<ChunkRecord>* lists : {warm_, cold_}) {
    for (uint32_t order = 0; order < kOrders; ++order) {
      for (ChunkRecord* record = lists[order].first(); record; record = record->next) {
        Region& region = region_of(*record);
        const Residency part = residency(
            region.base + (static_cast<size_t>(record - region.chunk_records) << kChunkShift), order);
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
