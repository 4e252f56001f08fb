// Address space for chunks, and the records that say what each chunk is.
//
// A region is address space reserved at once, of which a growing prefix is committed (readable, writable, without memory until touched):
//
//   base                                                                                committed          base + bytes
//   | line records, one a chunk | chunk records | runs of chunks ...                    | no access            |
//
// The line records of the whole region can be read from the start (as zeros, which take no memory), so that a wild pointer into a region is
// looked up like any other. The first region, the primary one, is sized so that a process rarely needs another.
//
// Glossary: chunk 64 KiB; run 2^order chunks, aligned to its size; block the largest run, 2 MiB; resident page: may hold memory, because
// it was handed out and not returned since.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "common/base/base.h"
#include "common/mem/size_classes.h"

namespace hakozuna::mem {

inline constexpr uint32_t kOrders = kMaxRunOrder + 1;
inline constexpr size_t kBlockChunks = size_t{1} << kMaxRunOrder;
inline constexpr size_t kBlockBytes = kChunkBytes * kBlockChunks;

// The number of a chunk: its region in the upper bits, its place in the region in the lower ones. 0 is no run's: records come first.
using ChunkId = uint32_t;
inline constexpr ChunkId kNoChunk = 0;

// 16 bytes for each 64 KiB that was ever in use. What describes a run stands in its first chunk's record. All but the pages' bits is read and
// written under the supply's lock, but for walks of a process at rest.
struct ChunkRecord {
  enum State : uint32_t {
    kUnassigned = 0,  // not handed to the free lists yet
    kFree,            // first chunk of a free run, on a list
    kUsed,            // first chunk of a run that was handed out
    kInside,          // another chunk of a run
  };
  static constexpr uint32_t kTimeBits = 24;

  ChunkId next;      // links of the free lists
  ChunkId previous;
  uint32_t freed_at : kTimeBits;  // when the run became free, ms, low bits
  uint32_t state : 2;
  uint32_t order : 3;
  uint32_t warm : 1;               // of a free run: which list it is on
  uint32_t line_records_used : 1;  // the line may have written to the records of the run's chunks
  // One bit a page. Atomic because a thread that returns pages of a remotely freed slot shares the word with the owner of the
  // span; each bit has one writer at a time, so relaxed order is enough but for the statistics (residency()): the slot itself is handed over
  // elsewhere.
  std::atomic<uint16_t> resident;  // may hold memory
  std::atomic<uint16_t> touched;   // was handed out at some time; resident is a subset, also in between: it is set afterwards
};
static_assert(sizeof(ChunkRecord) == 16);
static_assert(kMaxRunOrder < 8, "order has three bits");

struct Region {
  char* base;
  size_t bytes;
  char* first_run;                // behind the records
  std::atomic<size_t> committed;  // bytes from base on that can be used; release on growth, acquire by readers without the lock
  char* carved;                   // blocks below are in use or in the free lists; of the holder of the supply's lock
  ChunkRecord* chunk_records;
};

class Regions {
 public:
  constexpr Regions() = default;

  // Reserves the first region. False if there is no address space at all. This and grow() under the supply's lock.
  bool initialise(size_t line_record_bytes);

  // The next block of new memory; kNoChunk when the system has none or the limit is reached.
  ChunkId grow(uint64_t limit_bytes);

  // The region an address of a run belongs to; null for any other address, the records of a region included. No lock.
  Region* find(const void* address);

  // Whether an address lies in a region at all (records and uncommitted space included). No lock.
  bool contains(const void* address) const;

  ChunkRecord& record(ChunkId id) { return regions_[id >> kChunkBits].chunk_records[id & kChunkMask]; }
  char* address(ChunkId id) const {
    return regions_[id >> kChunkBits].base + (size_t{id & kChunkMask} << kChunkShift);
  }
  char* line_record(ChunkId id) const {
    return regions_[id >> kChunkBits].base + size_t{id & kChunkMask} * line_record_bytes_;
  }
  ChunkId id_of(const char* run) {
    const Region* const region = find(run);
    return static_cast<ChunkId>(static_cast<size_t>(region - regions_) << kChunkBits |
                                static_cast<size_t>(run - region->base) >> kChunkShift);
  }
  size_t line_record_bytes() const { return line_record_bytes_; }

  size_t resident_bytes(ChunkId run, uint32_t order);

  // The regions there are; complete ones only.
  uint32_t count() const { return count_.load(std::memory_order_acquire); }  // pairs with add()
  Region& region(uint32_t index) { return regions_[index]; }
  ChunkId first_id(uint32_t index) const {
    return index << kChunkBits |
           static_cast<ChunkId>(static_cast<size_t>(regions_[index].first_run - regions_[index].base) >> kChunkShift);
  }

  // Bytes committed, records included.
  uint64_t mapped_bytes() const { return mapped_bytes_; }

 private:
  static constexpr uint32_t kMaxRegions = 64;
  static constexpr uint32_t kChunkBits = 26;  // 4 TiB a region
  static constexpr uint32_t kChunkMask = (uint32_t{1} << kChunkBits) - 1;

  bool add(size_t bytes);
  bool commit_more(Region& region, uint64_t limit_bytes);

  size_t line_record_bytes_ = 0;
  Region regions_[kMaxRegions] = {};
  std::atomic<uint32_t> count_{0};  // release after the region is complete
  uint64_t mapped_bytes_ = 0;
};

// The fast test for "ours": the offset of an address from primary_base is below primary_bytes. Both are 0 before initialise() and constant
// afterwards, so that they need not be atomic: who has a pointer of ours has it from after initialise(). Variables of their own
// and hidden, so that a free reads each with one instruction.
[[gnu::visibility("hidden")]] extern char* primary_base;
[[gnu::visibility("hidden")]] extern size_t primary_bytes;

}  // namespace hakozuna::mem
