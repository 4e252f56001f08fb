// Runs of 64 KiB chunks, for spans.
//
// A region is address space reserved at once, of which a growing prefix is committed (readable, writable, without memory until touched):
//
//   base                                                                                committed          base + bytes
//   | line records, one a chunk | chunk records | runs of chunks ...                    | no access            |
//
// The line records of the whole region can be read from the start (as zeros, which take no memory), so that a wild pointer into a region is
// looked up like any other.
//
// The first region, the primary one, is sized so that a process rarely needs another: an address is ours if it lies in the primary
// region (one compare) or the page map knows its region. Free runs are kept by the buddy system in lists by order,
// those with resident pages ("warm") apart from those without ("cold"); warm ones are handed out first and returned to the
// system when they have been free for a while.
//
// Glossary: chunk 64 KiB; run 2^order chunks, aligned to its size; block the largest run, 2 MiB; resident page: may hold memory, because
// it was handed out and not returned since.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "common/base/base.h"
#include "common/mem/size_classes.h"
#include "common/os/lock.h"

namespace hakozuna::mem {

struct ChunkRecord {
  enum class State : uint8_t {
    kUnassigned = 0,  // not handed to the free lists yet, or metadata
    kFree,            // first chunk of a free run, on a list
    kUsed,            // first chunk of a run that was handed out
    kInside,          // another chunk of a run
  };

  ChunkRecord* next;       // free list links, first chunk of a free run only
  ChunkRecord* previous;
  uint32_t freed_at;       // when the run became free, ms (low 32 bits of the coarse clock)
  // One bit a page of the chunk. Atomic because a thread that returns pages of a remotely freed slot shares the word with
  // the owner of the span; each bit has one writer at a time, so relaxed order is enough: the slot itself is handed over elsewhere.
  std::atomic<uint16_t> resident;  // may hold memory
  std::atomic<uint16_t> touched;   // was handed out at some time; resident is a subset
  State state;
  uint8_t order;
  bool warm;               // of a free run: which list it is on
  bool line_records_used;  // first chunk of a block: the line may have written to the records of the block's chunks
};
static_assert(sizeof(ChunkRecord) == 32, "records are found by shifting");

struct Region {
  char* base;
  size_t bytes;
  char* first_run;                // behind the records
  std::atomic<size_t> committed;  // bytes from base on whose records exist; release on growth, acquire on slow reads
  char* carved;                   // blocks below are in the lists or in use
  ChunkRecord* chunk_records;
};

class ChunkSupply {
 public:
  constexpr ChunkSupply() = default;

  // Reserves the primary region; `line_record_bytes` are set aside, zeroed, for each chunk at the region's base. False if the system has no
  // address space at all. Idempotent, thread-safe.
  bool initialise(size_t line_record_bytes);

  // The region an address of a run belongs to, also a secondary one; null for any other address, the records of a region included.
  Region* find_region(const void* address);

  // Whether an address lies in a region at all (records and uncommitted space included).
  bool in_reserved_space(const void* address);

  // A run of 2^order chunks, order in 0..kMaxRunOrder; null when the system has no memory or mapped bytes would exceed `limit_bytes`.
  char* allocate_run(uint32_t order, uint64_t limit_bytes);

  // The same, of memory that is warm; null if there is none.
  char* allocate_warm_run(uint32_t order);

  // The largest cold run of at least 2^order chunks, and its order: for a heap that will carve more from it. New address space only if there is
  // none.
  char* allocate_cold_run(uint32_t order, uint64_t limit_bytes, uint32_t& order_found);

  // Makes two runs of half the size of a used run; the second one's address is returned. No lock: the run is the caller's.
  char* split_run(char* run);

  // Takes a run back. Returns true if there is now more to purge than `retain_bytes` and there was not before: the caller then
  // makes sure that purge() gets called some time later. After settle(), and until somebody needs new memory, it does not wait.
  bool release_run(char* run, uint32_t order, uint64_t now_ms, uint64_t retain_bytes);

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

  // Marks the pages of a range of a used run as holding memory / returns the resident ones to the system (range rounded inwards;
  // returns the bytes) / says how many of the pages that overlap the range are resident: one that is not reads as zero.
  void mark_resident(const char* start, size_t bytes);
  size_t discard(char* start, size_t bytes);
  enum class Presence : uint8_t { kNone, kPart, kAll };
  Presence presence(const char* start, size_t bytes);

  // Bytes of a used run by state; the three add up to the run.
  struct Residency {
    uint64_t resident = 0, returned = 0, untouched = 0;
  };
  Residency residency(const char* run, uint32_t order);

  struct Totals {
    uint64_t reserved = 0, committed_runs = 0, metadata = 0;
    Residency free_runs;  // in the lists, and carved space
    uint64_t purge_calls = 0, purged_bytes = 0;
  };
  Totals totals();

  // Calls visit(line record, first byte, order) for every used run.
  template <class Visitor>
  void for_each_run(Visitor&& visit) {
    const uint32_t count = region_count_.load(std::memory_order_acquire);  // pairs with add_region()
    for (uint32_t i = 0; i < count; ++i) {
      Region& region = regions_[i];
      const size_t chunks = region.committed.load(std::memory_order_acquire) >> kChunkShift;
      for (size_t c = static_cast<size_t>(region.first_run - region.base) >> kChunkShift; c < chunks;) {
        const ChunkRecord& record = region.chunk_records[c];
        if (record.state == ChunkRecord::State::kUsed) {
          visit(region.base + c * line_record_bytes_, region.base + (c << kChunkShift), record.order);
        }
        c += record.state == ChunkRecord::State::kUsed || record.state == ChunkRecord::State::kFree
                 ? size_t{1} << record.order
                 : 1;
      }
    }
  }

  // A line that keeps nothing in the records of free chunks but zeros lets their pages be returned too: may_discard(first record, count) says
  // whether no thread is at them right now; the runs are out of reach of others meanwhile.
  using MayDiscardRecords = bool (*)(char* first_record, size_t count);
  void set_record_discard(MayDiscardRecords may_discard) { may_discard_records_ = may_discard; }

  // Calls visit(line record) for every chunk that was ever part of a run.
  template <class Visitor>
  void for_each_line_record(Visitor&& visit) {
    for (uint32_t i = 0; i < region_count_.load(std::memory_order_acquire); ++i) {
      const Region& region = regions_[i];
      const size_t end = static_cast<size_t>(region.carved - region.base) >> kChunkShift;
      for (size_t c = static_cast<size_t>(region.first_run - region.base) >> kChunkShift; c < end; ++c) {
        visit(region.base + c * line_record_bytes_);
      }
    }
  }

  os::Lock& lock() { return lock_; }

 private:
  static constexpr uint32_t kMaxRegions = 64;
  static constexpr size_t kBlockBytes = kChunkBytes << kMaxRunOrder;
  static constexpr uint32_t kOrders = kMaxRunOrder + 1;
  static constexpr size_t kBlockChunks = size_t{1} << kMaxRunOrder;

  Region* add_region(size_t bytes);
  bool grow(uint64_t limit_bytes);
  bool carve_block(uint64_t limit_bytes);
  // Whether committing `bytes` more for runs, with the records of their chunks, would exceed the limit (0 = none).
  bool exceeds(uint64_t limit_bytes, size_t bytes) const;
  bool commit_more(Region& region, uint64_t limit_bytes);
  char* take(uint32_t order, bool warm);
  char* take_first(uint32_t from, uint32_t order, bool warm);
  void discard_idle_line_records();
  void insert_free(Region& region, size_t chunk, uint32_t order, uint32_t freed_at);
  void unlink_free(ChunkRecord& record);
  size_t resident_bytes(const ChunkRecord& first) const;
  Region& region_of(const ChunkRecord& record);
  size_t discard_runs(ChunkRecord** runs, uint32_t count);
  char* run_of(const ChunkRecord& first);
  ChunkRecord* first_to_purge(uint32_t now, uint64_t delay_ms);

  size_t line_record_bytes_ = 0;
  MayDiscardRecords may_discard_records_ = nullptr;

  os::Lock lock_{os::Rank::kChunkSupply};
  Region regions_[kMaxRegions] = {};
  std::atomic<uint32_t> region_count_{0};  // release after the region is complete, acquire by readers without the lock
  List<ChunkRecord> warm_[kOrders];
  List<ChunkRecord> cold_[kOrders];
  uint64_t warm_bytes_ = 0;   // resident bytes in warm_
  uint64_t mapped_bytes_ = 0; // committed, records included
  std::atomic<bool> settled_{false};  // see settle(); relaxed: a hint
  std::atomic<bool> purge_pending_{false};  // relaxed: a hint; the truth is under the lock
  std::atomic<uint64_t> purge_calls_{0};    // relaxed: statistics
  std::atomic<uint64_t> purged_bytes_{0};
};

// That of the process. (A unit test makes others, which share nothing with it but the page map.)
extern ChunkSupply chunk_supply;

// The fast test for "ours", of chunk_supply only: the offset of an address from primary_base is below primary_bytes. Both are 0 before initialise() and constant
// afterwards, so that they need not be atomic: who has a pointer of ours has it from after initialise(). Variables of their own
// and hidden, so that a free reads each with one instruction.
[[gnu::visibility("hidden")]] extern char* primary_base;
[[gnu::visibility("hidden")]] extern size_t primary_bytes;

}  // namespace hakozuna::mem
