// The pages of used runs: which may hold memory, and giving back those that need not.
#include "common/mem/chunk_supply.h"
#include "common/os/os.h"

namespace hakozuna::mem {
namespace {

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

void ChunkSupply::mark_resident(const char* start, size_t bytes) {
  Region* const region = regions_.find(start);
  const size_t first = static_cast<size_t>(start - region->base);
  for (size_t chunk = first >> kChunkShift; chunk <= (first + bytes - 1) >> kChunkShift; ++chunk) {
    const uint16_t pages = overlapping_pages(chunk, first, first + bytes);
    ChunkRecord& record = region->chunk_records[chunk];
    // Skipping the write where nothing changes keeps the line shared; bits of these pages are ours to change.
    if ((record.resident.load(std::memory_order_relaxed) & pages) != pages) {
      record.touched.fetch_or(pages, std::memory_order_relaxed);
      // release: pairs with residency(). In a child that is forked in between the pages count as returned, and the line marks them once more; the
      // other way round they would be resident and untouched at once, for ever.
      record.resident.fetch_or(pages, std::memory_order_release);
    }
  }
}

void ChunkSupply::populate(char* run, uint32_t order) {
  const size_t bytes = kChunkBytes << order;
  if (presence(run, bytes) == Presence::kNone && os::populate(run, bytes)) mark_resident(run, bytes);
}

ChunkSupply::Presence ChunkSupply::presence(const char* start, size_t bytes) {
  Region* const region = regions_.find(start);
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
  Region* const region = regions_.find(start);
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

ChunkSupply::Residency ChunkSupply::residency(ChunkId run, uint32_t order) {
  Residency result;
  const uint64_t page = os::page_bytes();
  for (ChunkId id = run; id < run + (ChunkId{1} << order); ++id) {
    const ChunkRecord& record = regions_.record(id);
    // acquire: pairs with mark_resident(); what is resident is seen as touched.
    const uint16_t resident = record.resident.load(std::memory_order_acquire);
    const uint16_t touched = record.touched.load(std::memory_order_relaxed);
    const uint16_t returned = static_cast<uint16_t>(touched & ~resident);
    const uint16_t untouched = static_cast<uint16_t>(all_pages() & ~touched);
    result.resident += static_cast<uint64_t>(std::popcount(resident)) * page;
    result.returned += static_cast<uint64_t>(std::popcount(returned)) * page;
    result.untouched += static_cast<uint64_t>(std::popcount(untouched)) * page;
  }
  return result;
}

}  // namespace hakozuna::mem
