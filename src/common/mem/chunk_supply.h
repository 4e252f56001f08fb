// Runs of 64 KiB chunks, for spans: taken from regions, kept warm for a while after use, then returned to the system.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "common/mem/free_runs.h"
#include "common/mem/purge_request.h"
#include "common/mem/regions.h"
#include "common/os/lock.h"

namespace hakozuna::mem {

class ChunkSupply {
 public:
  constexpr ChunkSupply() : free_(regions_) {}

  // Reserves the primary region; `line_record_bytes` are set aside, zeroed, for each chunk at the region's base. False if the system has no
  // address space at all. Idempotent, thread-safe.
  bool initialise(size_t line_record_bytes);

  Region* find_region(const void* address) { return regions_.find(address); }
  bool in_reserved_space(const void* address) const { return regions_.contains(address); }

  // ---- Runs. All thread-safe.

  // A run of 2^order chunks, order in 0..kMaxRunOrder; null when the system has no memory or mapped bytes would exceed `limit_bytes`.
  char* allocate_run(uint32_t order, uint64_t limit_bytes);

  // The same, of memory that is warm; null if there is none.
  char* allocate_warm_run(uint32_t order);

  // The largest cold run of at least 2^order chunks, and its order: for a heap that will carve more from it. New address space only if there is
  // none.
  char* allocate_cold_run(uint32_t order, uint64_t limit_bytes, uint32_t& order_found);

  // Makes two runs of half the size of a used run, which is the caller's; the second one's address is returned.
  char* split_run(char* run);

  // Takes a run back. Returns true if there is now more to purge than `retain_bytes` and there was not before: the caller then
  // makes sure that purge() gets called some time later. After settle(), and until somebody needs new memory, it does not wait.
  bool release_run(char* run, uint32_t order, uint64_t now_ms, uint64_t retain_bytes);
  // The same, and sees to that by request_purge(). Not to be called with a lock held.
  void release_run_and_request(char* run, uint32_t order, uint64_t now_ms, uint64_t retain_bytes) {
    if (release_run(run, order, now_ms, retain_bytes)) request_purge();
  }

  // Returns to the system what has been free for `delay_ms`, as long as more than `retain_bytes` is warm. Returns the bytes.
  size_t purge(uint64_t now_ms, uint64_t delay_ms, uint64_t retain_bytes);

  // Purges down to `retain_bytes` at once, and from now on whenever something is released, until memory is in demand again: for the end of a
  // thread, after which less will be needed.
  size_t settle(uint64_t retain_bytes);

  // Whether nothing but what was kept has been needed since settle(). unsettle(): memory was taken from elsewhere.
  bool settled() const { return settled_.load(std::memory_order_relaxed); }
  void unsettle() { settled_.store(false, std::memory_order_relaxed); }

  // Whether purge() may have something to do.
  bool purge_pending() const { return purge_pending_.load(std::memory_order_relaxed); }

  // A line that keeps nothing in the records of free chunks but zeros lets their pages be returned too: may_discard(first record, count) says
  // whether no thread is at them right now; the runs are out of reach of others meanwhile.
  using MayDiscardRecords = bool (*)(char* first_record, size_t count);
  void set_record_discard(MayDiscardRecords may_discard) {
    may_discard_records_.store(may_discard, std::memory_order_relaxed);
  }

  // ---- Pages of used runs. No lock: of one page there is one user at a time.

  // Marks the pages of a range as holding memory.
  void mark_resident(const char* start, size_t bytes);

  // Has the system give a run without memory all of it at once, where it can.
  void populate(char* run, uint32_t order);

  // Returns the resident pages that lie in a range to the system, and their bytes.
  size_t discard(char* start, size_t bytes);

  // How many of the pages that overlap a range are resident: one that is not reads as zero.
  enum class Presence : uint8_t { kNone, kPart, kAll };
  Presence presence(const char* start, size_t bytes);

  // Bytes of a run by state; the three add up to the run.
  struct Residency {
    uint64_t resident = 0, returned = 0, untouched = 0;
  };
  Residency residency(const char* run, uint32_t order) { return residency(regions_.id_of(run), order); }

  // ---- Statistics and walks. Exact while nothing is in motion.

  struct Totals {
    uint64_t reserved = 0, committed_runs = 0, metadata = 0;
    Residency free_runs;  // in the lists, and space that was never handed out
    uint64_t purge_calls = 0, purged_bytes = 0;
  };
  Totals totals();

  // Calls visit(line record, first byte, order) for every used run.
  template <class Visitor>
  void for_each_run(Visitor&& visit) {
    for_each_chunk([&](ChunkId id) -> uint32_t {
      const ChunkRecord& record = regions_.record(id);
      const uint32_t order = record.order;
      if (record.state == ChunkRecord::kUsed) visit(regions_.line_record(id), regions_.address(id), order);
      return record.state == ChunkRecord::kUsed || record.state == ChunkRecord::kFree ? 1u << order : 1u;
    });
  }

  // Calls visit(line record) for every chunk that was ever part of a run.
  template <class Visitor>
  void for_each_line_record(Visitor&& visit) {
    for_each_chunk([&](ChunkId id) -> uint32_t {
      visit(regions_.line_record(id));
      return 1;
    });
  }

  os::Lock& lock() { return lock_; }

 private:
  // visit(id) says how many chunks to go on by.
  template <class Visitor>
  void for_each_chunk(Visitor&& visit) {
    for (uint32_t i = 0; i < regions_.count(); ++i) {
      const Region& region = regions_.region(i);
      const ChunkId end = regions_.first_id(i) +
                          static_cast<ChunkId>(static_cast<size_t>(region.carved - region.first_run) >> kChunkShift);
      for (ChunkId id = regions_.first_id(i); id < end;) id += visit(id);
    }
  }

  ChunkId take_new(uint32_t order, uint64_t limit_bytes);
  Residency residency(ChunkId run, uint32_t order);
  struct DetachedRun {
    ChunkId id;
    uint32_t order;
  };
  static void sort_by_address(DetachedRun* runs, uint32_t count);
  size_t discard_runs(DetachedRun* runs, uint32_t count);
  void discard_idle_line_records();

  os::Lock lock_{os::Rank::kChunkSupply};
  Regions regions_;
  FreeRuns free_;
  std::atomic<MayDiscardRecords> may_discard_records_{nullptr};  // relaxed: code, the same from every heap's start
  // Relaxed: hints; the truth is under the lock.
  std::atomic<bool> settled_{false};
  std::atomic<bool> purge_pending_{false};
  // Relaxed: statistics.
  std::atomic<uint64_t> purge_calls_{0};
  std::atomic<uint64_t> purged_bytes_{0};
};

extern ChunkSupply chunk_supply;

}  // namespace hakozuna::mem
