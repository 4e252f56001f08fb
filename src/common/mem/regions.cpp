#include "common/mem/regions.h"

#include "common/mem/budget.h"
#include "common/mem/page_map.h"
#include "common/os/os.h"

namespace hakozuna::mem {

constinit char* primary_base = nullptr;
constinit size_t primary_bytes = 0;

namespace {

// The primary region: two to four times the physical memory, so that a process does not outgrow it, within these bounds; and no more than a
// quarter of what RLIMIT_AS allows, so that the program's own mappings still find room.
constexpr size_t kLargestRegion = size_t{1} << 40;
constexpr size_t kSmallestRegion = size_t{4} << 20;

// Committed at a time: a quarter of what is there, so that the number of system calls grows with the logarithm of the heap.
constexpr size_t kLargestCommitStep = size_t{64} << 20;

}  // namespace

bool Regions::initialise(size_t line_record_bytes) {
  if (count() != 0) return true;
  line_record_bytes_ = line_record_bytes;
  const size_t wanted = size_t{1} << (log2_floor(os::physical_memory_bytes()) + 2);
  const size_t allowed = size_t{1} << log2_floor(os::address_space_limit_bytes() / 4 | 1);
  size_t bytes = wanted < allowed ? wanted : allowed;
  if (bytes > kLargestRegion) bytes = kLargestRegion;
  if (bytes < kSmallestRegion) bytes = kSmallestRegion;
  for (; bytes >= kSmallestRegion; bytes /= 2) {
    if (!add(bytes)) continue;
    primary_base = regions_[0].base;
    primary_bytes = regions_[0].bytes;
    return true;
  }
  return false;
}

bool Regions::add(size_t bytes) {
  const uint32_t index = count_.load(std::memory_order_relaxed);
  if (index == kMaxRegions) return false;
  char* const base = static_cast<char*>(os::reserve(bytes, kBlockBytes));
  if (!base) return false;
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
    return false;
  }
  region.committed.store(static_cast<size_t>(region.first_run - base), std::memory_order_release);
  mapped_bytes_ += line_head + record_head;
  count_mapped(line_head + record_head);
  count_.store(index + 1, std::memory_order_release);  // pairs with count()
  return true;
}

bool Regions::commit_more(Region& region, uint64_t limit_bytes) {
  const size_t committed = region.committed.load(std::memory_order_relaxed);
  const size_t runs = committed - static_cast<size_t>(region.first_run - region.base);
  size_t step = align_down(runs / 4, kBlockBytes);
  if (step < kBlockBytes) step = kBlockBytes;
  if (step > kLargestCommitStep) step = kLargestCommitStep;
  const size_t page = os::page_bytes();
  for (; step >= kBlockBytes; step = align_down(step / 2, kBlockBytes)) {
    if (committed + step > region.bytes || !within_limit(step, limit_bytes)) continue;
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
    // release: whoever sees the new end finds the records below it writable.
    region.committed.store(committed + step, std::memory_order_release);
    return true;
  }
  return false;
}

ChunkId Regions::grow(uint64_t limit_bytes) {
  const uint32_t first_count = count_.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < count_.load(std::memory_order_relaxed); ++i) {
    Region& region = regions_[i];
    if (region.carved != region.base + region.committed.load(std::memory_order_relaxed) ||
        commit_more(region, limit_bytes)) {
      const ChunkId id = i << kChunkBits | static_cast<ChunkId>(static_cast<size_t>(region.carved - region.base) >> kChunkShift);
      region.carved += kBlockBytes;
      return id;
    }
    // Not full: it is memory that the system or the limit refuses, which no other region would get.
    if (region.committed.load(std::memory_order_relaxed) + kBlockBytes <= region.bytes) return kNoChunk;
    // All are full: one more, of twice the size of the last if it can be had, is tried in the next round.
    if (i + 1 == first_count && within_limit(kBlockBytes, limit_bytes)) {
      const size_t wanted = region.bytes < kLargestRegion ? region.bytes * 2 : kLargestRegion;
      for (size_t bytes = wanted; bytes >= kSmallestRegion && !add(bytes); bytes /= 2) {
      }
    }
  }
  return kNoChunk;
}

Region* Regions::find(const void* address) {
  const char* const byte = static_cast<const char*>(address);
  Region* region = &regions_[0];
  if (static_cast<size_t>(byte - region->base) >= region->bytes) {
    const PageMap::Entry entry = page_map.find(address);
    if (entry.kind != PageMap::Kind::kRegion) return nullptr;
    region = static_cast<Region*>(entry.object);
  }
  if (byte < region->first_run) return nullptr;
  // acquire: pairs with commit_more().
  return byte < region->base + region->committed.load(std::memory_order_acquire) ? region : nullptr;
}

bool Regions::contains(const void* address) const {
  const char* const byte = static_cast<const char*>(address);
  for (uint32_t i = 0; i < count(); ++i) {
    if (byte >= regions_[i].base && byte < regions_[i].base + regions_[i].bytes) return true;
  }
  return false;
}

size_t Regions::resident_bytes(ChunkId run, uint32_t order) {
  const ChunkRecord* const records = &record(run);
  size_t pages = 0;
  for (size_t i = 0; i < size_t{1} << order; ++i) {
    pages += static_cast<size_t>(std::popcount(records[i].resident.load(std::memory_order_relaxed)));
  }
  return pages * os::page_bytes();
}

}  // namespace hakozuna::mem
