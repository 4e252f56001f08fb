#include "common/mem/free_runs.h"

namespace hakozuna::mem {
namespace {

constexpr uint32_t kTimeMask = (uint32_t{1} << ChunkRecord::kTimeBits) - 1;

// Whether what became free at `freed_at` has been so for `delay_ms` at `now`, which may have been read a little before: then the
// difference has wrapped and it is young, not 4 hours old.
bool is_old(uint32_t now, uint32_t freed_at, uint64_t delay_ms) {
  constexpr uint32_t kLateReader = 60'000;  // ms a thread may be held up between reading the clock and coming here
  const uint32_t age = (now - freed_at) & kTimeMask;
  return delay_ms == 0 || (age >= delay_ms && age < kTimeMask - kLateReader);
}

bool is_before(uint32_t a, uint32_t b) { return ((a - b) & kTimeMask) > kTimeMask / 2; }

}  // namespace

void FreeRuns::push_front(ChunkId run) {
  ChunkRecord& record = regions_.record(run);
  record.state = ChunkRecord::kFree;
  const size_t resident = regions_.resident_bytes(run, record.order);
  record.warm = resident != 0;
  warm_bytes_ += resident;
  RunList& list = list_of(record);
  record.previous = kNoChunk;
  record.next = list.first;
  (list.first != kNoChunk ? regions_.record(list.first).previous : list.last) = run;
  list.first = run;
}

void FreeRuns::remove(ChunkId run) {
  ChunkRecord& record = regions_.record(run);
  HAKOZUNA_CHECK(record.state == ChunkRecord::kFree, "only free runs are on the lists");
  RunList& list = list_of(record);
  (record.previous != kNoChunk ? regions_.record(record.previous).next : list.first) = record.next;
  (record.next != kNoChunk ? regions_.record(record.next).previous : list.last) = record.previous;
  if (record.warm) warm_bytes_ -= regions_.resident_bytes(run, record.order);
  record.state = ChunkRecord::kInside;
}

void FreeRuns::insert(ChunkId run, uint32_t order, uint32_t freed_at) {
  freed_at &= kTimeMask;
  regions_.record(run).order = order;
  bool warm = regions_.resident_bytes(run, order) != 0;
  bool line_records_used = regions_.record(run).line_records_used;
  while (order < kMaxRunOrder) {
    const ChunkId buddy = run ^ (ChunkId{1} << order);
    const ChunkRecord& record = regions_.record(buddy);
    if (record.state != ChunkRecord::kFree || record.order != order) break;
    remove(buddy);
    if (record.line_records_used) line_records_used = true;
    if (record.warm) {
      if (!warm || is_before(record.freed_at, freed_at)) freed_at = record.freed_at;
      warm = true;
    }
    regions_.record(run).state = ChunkRecord::kInside;
    run &= ~(ChunkId{1} << order);
    ++order;
    regions_.record(run).order = order;
  }
  regions_.record(run).freed_at = freed_at & kTimeMask;
  regions_.record(run).line_records_used = line_records_used;
  push_front(run);
}

ChunkId FreeRuns::take_of(uint32_t from, uint32_t order, bool warm) {
  ChunkId run = first(from, warm);
  if (run == kNoChunk) return kNoChunk;
  remove(run);
  const uint32_t freed_at = regions_.record(run).freed_at;
  const bool line_records_used = regions_.record(run).line_records_used;
  // Halve until it fits, keeping the warmer half.
  for (uint32_t half = from; half-- > order;) {
    ChunkId other = run ^ (ChunkId{1} << half);
    regions_.record(run).order = half;
    regions_.record(other).order = half;
    if (warm && regions_.resident_bytes(run, half) == 0) {
      regions_.record(run).state = ChunkRecord::kInside;
      const ChunkId upper = other;
      other = run;
      run = upper;
    }
    regions_.record(other).freed_at = freed_at & kTimeMask;
    regions_.record(other).line_records_used = line_records_used;
    push_front(other);
  }
  regions_.record(run).order = order;
  regions_.record(run).line_records_used = 1;
  regions_.record(run).state = ChunkRecord::kUsed;
  return run;
}

ChunkId FreeRuns::take(uint32_t order, bool warm) {
  for (uint32_t from = order; from < kOrders; ++from) {
    if (const ChunkId run = take_of(from, order, warm)) return run;
  }
  return kNoChunk;
}

ChunkId FreeRuns::find_old(uint32_t now_ms, uint64_t delay_ms) {
  // The oldest are at the end, but for joined runs, which stand where their youngest part put them: look at a few.
  constexpr int kLooks = 8;
  for (uint32_t order = kOrders; order-- > 0;) {
    ChunkId run = warm_[order].last;
    for (int i = 0; run != kNoChunk && i < kLooks; ++i, run = regions_.record(run).previous) {
      if (is_old(now_ms, regions_.record(run).freed_at, delay_ms)) return run;
    }
  }
  return kNoChunk;
}

}  // namespace hakozuna::mem
