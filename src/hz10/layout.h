// hz10: every structure, and what the fast paths rely on.
//
// Glossary
//   span      a run of chunks cut into slots of one class
//   slot      place of one block
//   bin       a thread's stack of free blocks of a class; which thread allocated them does not matter
//   depot     the spans of a class, shared by all threads, under one lock
//   stash     blocks on their way from one thread's bin to another's; they have not come back to their spans
//   free bit  one per slot, set: the slot is free in its span. Clear: it holds a block, or waits in a bin or in the stash
//   open      a span with free bits; the depot's list of them
//   spill     move blocks from a bin to the depot; refill: the other way
//
// Invariants
//   slots in use = slot_count - free_count;  live blocks of a class = slots in use - blocks in bins - blocks in the stash
//   free_count = popcount(free bits);  summary bit i set <=> word i of the free bits is not 0
//   free_count > 0 <=> the span is on the open list of its depot
//   a chunk entry names a span <=> the chunk is part of that span's run; entries change under the lock of the span's depot only
//   everything in a span but what is marked (i) is read and written under the lock of its depot
//   base[-1] of a bin is null; base <= top <= limit; the blocks are base[0] .. top[-1]
//   a bin belongs to its thread; others look at it for the statistics only
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "common/arch/arch.h"
#include "common/base/base.h"
#include "common/core/thread_heap.h"
#include "common/mem/mem.h"
#include "common/os/os.h"

namespace hakozuna::hz10 {

// A span's record belongs to its class for ever and is recycled, never given back: a stale pointer to one reads a record of the same class.
// The words of free bits follow it in memory.
struct Span {
  char* first_slot;         // (i) immutable while the span has a run
  uint64_t reciprocal;      // (i) ceil(2^64 / slot_bytes)
  uint32_t slot_bytes;      // (i)
  uint16_t slot_count;      // (i)
  uint8_t size_class;       // (i)
  uint8_t order;            // (i) the run has 2^order chunks
  uint16_t free_count;
  uint8_t idle_passes;      // purge passes since slots were last taken or given back; kNothingToReturn once its free pages are returned
  uint64_t summary;         // which words are not 0
  // What must be marked resident before it is handed out, because some of its pages are not: by slot in spans of one word, else by word.
  uint64_t unmarked;
  uint64_t fresh;           // spans of one word: slots that read as zero; a subset of unmarked
  Span* next;               // links of the open list; next also of the depot's unused records
  Span* previous;

  uint64_t* words() { return reinterpret_cast<uint64_t*>(this + 1); }
  const uint64_t* words() const { return reinterpret_cast<const uint64_t*>(this + 1); }
  uint32_t word_count() const { return (uint32_t{slot_count} + 63) / 64; }
};
inline constexpr uint8_t kNothingToReturn = UINT8_MAX;

// The supply's record of a chunk, 8 bytes: what a free has to know of a block is its class. All zero where no span is, so that the bin is the one
// that never takes a block. Written and read whole but for `bin`, which a free reads by itself: it does not change while a block is allocated.
struct alignas(8) ChunkEntry {
  uint16_t bin;        // offset of the class's bin from the first bin of any heap
  uint16_t span_high;  // address of the span's record: 48 bits
  uint32_t span_low;

  Span* span() const { return reinterpret_cast<Span*>(uintptr_t{span_high} << 32 | span_low); }
};
static_assert(sizeof(ChunkEntry) == 8, "entries are found by scaled addressing");

// Free blocks of a class, the latest last.
struct Bin {
  void** top;    // behind the last block; what stands before the first one is null
  void** limit;  // top is never above
};
static_assert(sizeof(Bin) == 16);

// Bin 0 takes and gives nothing; the bin of class c is c + 1.
inline constexpr uint32_t kBinCount = mem::kClassCount + 1;
static_assert(kBinCount * sizeof(Bin) <= UINT16_MAX, "bin offsets have 16 bits");
constexpr uint16_t bin_offset_of(uint32_t size_class) { return static_cast<uint16_t>((size_class + 1) * sizeof(Bin)); }
constexpr uint32_t size_class_of_bin(size_t bin_offset) { return static_cast<uint32_t>(bin_offset / sizeof(Bin)) - 1; }

// Blocks a bin may hold, and how much that may be in total: together they bound what a sleeping thread keeps to itself.
inline constexpr size_t kSmallBinBytes = size_t{32} << 10;  // of each class up to 4 KiB
inline constexpr size_t kMediumBinBytes = size_t{192} << 10;
inline constexpr size_t kMediumBytes = size_t{4} << 20;      // all bins of larger classes of a thread
inline constexpr uint32_t kFirstCapacity = 3;               // arrays are powers of two with the null in front
inline constexpr uint32_t kLargestCapacity = 511;

constexpr uint32_t largest_capacity_of(uint32_t size_class) {
  const size_t bytes = size_class < mem::kSmallClassCount ? kSmallBinBytes : kMediumBinBytes;
  const size_t count = bytes / mem::slot_bytes_of(size_class);
  return count < 1 ? 1 : count > kLargestCapacity ? kLargestCapacity : static_cast<uint32_t>(count);
}
inline constexpr auto kLargestCapacities = [] {
  std::array<uint16_t, mem::kClassCount> table{};
  for (uint32_t c = 0; c < mem::kClassCount; ++c) table[c] = static_cast<uint16_t>(largest_capacity_of(c));
  return table;
}();

// Blocks a stash may hold: of small classes what a few threads' bins are filled from, of larger ones some to spare the spans.
inline constexpr size_t kStashBytes = size_t{256} << 10;
inline constexpr uint32_t kLargestStash = 4096;
inline constexpr uint32_t kSmallestStash = 2;
inline constexpr uint32_t kFirstStash = 32;  // of those that may be larger
constexpr uint32_t stash_capacity_of(uint32_t size_class) {
  const size_t count = kStashBytes / mem::slot_bytes_of(size_class);
  return count < kSmallestStash ? kSmallestStash : count > kLargestStash ? kLargestStash : static_cast<uint32_t>(count);
}
inline constexpr auto kStashCapacities = [] {
  std::array<uint16_t, mem::kClassCount> table{};
  for (uint32_t c = 0; c < mem::kClassCount; ++c) table[c] = static_cast<uint16_t>(stash_capacity_of(c));
  return table;
}();

// Pointers in the arrays of all bins of a heap when each has grown step by step to its largest.
inline constexpr size_t kArrayEntries = [] {
  size_t total = 0;
  for (uint32_t c = 0; c < mem::kClassCount; ++c) {
    for (uint32_t capacity = kFirstCapacity; capacity < largest_capacity_of(c);) {
      capacity = 2 * capacity + 1;
      total += capacity + 1;
    }
  }
  return total;
}();

// What a bin that holds nothing and takes nothing points to.
inline void* nothing[2] = {nullptr, nullptr};

// Requests up to here have their bin in a table: the classes above 4 KiB are multiples of 512 bytes.
inline constexpr size_t kMediumLimit = size_t{64} << 10;
inline constexpr size_t kMediumStep = mem::kSmallLimit / mem::kStepsPerOctave;

// A heap begins with its bins: the fast paths address them without an addition.
struct Bins {
  // As in the heap of threads that have none.
  constexpr Bins() {
    for (Bin& bin : bins) bin = {nothing + 1, nothing + 1};
    for (size_t i = 0; i < mem::kSmallClassTable.size(); ++i) small_bins[i] = bin_offset_of(mem::kSmallClassTable[i]);
    for (size_t i = mem::kSmallLimit / kMediumStep; i < kMediumLimit / kMediumStep; ++i) {
      medium_bins[i] = bin_offset_of(mem::class_of((i + 1) * kMediumStep));
    }
  }

  Bin bins[kBinCount];
  // Offset of the bin by (size + 15) / 16, up to 4 KiB: the same in all heaps, and here because the address of the heap is at hand.
  uint16_t small_bins[mem::kSmallClassTable.size()];
  // Likewise by (size - 1) / 512, from 4 KiB up to 64 KiB.
  uint16_t medium_bins[kMediumLimit / kMediumStep] = {};
};

// Slots above a page are shifted against the pages (mem/size_classes.h).
inline constexpr uint32_t kShiftedFrom = mem::kSmallClassCount;
inline constexpr mem::SizeClasses kSizeClasses = mem::make_size_classes({.least_slots = 16, .shifted_from = kShiftedFrom});

// One thread's heap.
struct Heap : Bins, core::ThreadHeap<Heap> {
  void** base[mem::kClassCount] = {};          // of each bin's array; its capacity is limit - base
  uint16_t array_capacity[mem::kClassCount] = {};  // what fits the array: capacity is at most this
  void** arrays = nullptr;                     // kArrayEntries, of the heap for ever; touched only as far as bins grow
  uint32_t arrays_used = 0;
  uint32_t quiet_ticks = 0;                    // ticks since the last spill
  uint32_t refill_events = 0;
  uint32_t victim = 0;                         // the medium class whose bin is emptied next when kMediumBytes are reached
  size_t medium_bytes = 0;                     // capacities of the medium bins, bytes
  void* first_arrays[mem::kClassCount][kFirstCapacity + 1] = {};
};

// The spans of a class.
struct alignas(arch::kCacheLineBytes) Depot {
  os::Lock lock{os::Rank::kDepots};
  void** stash = nullptr;    // an array that is replaced by one of twice the size up to kStashCapacities; the latest last
  uint32_t stash_capacity = 0;
  uint32_t stash_count = 0;
  uint32_t stash_low = 0;    // the least count since the last purge pass: so many were not needed
  List<Span> open;           // slots are taken from the first
  Span* unused = nullptr;    // records without a run
  uint32_t spans = 0;
  bool dry = true;           // whether no span is open
};

// A small class with so many spans is growing: the pages of a further one are had in one go, at less than half the cost of a fault for each. They
// are an eighth of what the class has, so that little is taken in advance.
inline constexpr uint32_t kGrowingSpans = 8;

}  // namespace hakozuna::hz10
