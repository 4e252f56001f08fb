// hz4: every structure, and what the fast paths rely on.
//
// Glossary
//   block     the place of one allocation; while it is free, its first words are ours
//   span      a run of chunks cut into blocks of one class; described by the Span record of its first chunk
//   bin       where a thread takes blocks of a class and puts what it frees, whoever owns the span. Bin 0 is nobody's: bin = class + 1
//   chain     free blocks of one class, linked through their first word
//   batch     as many blocks as a bin holds at most; the unit in which blocks change hands
//   shelf     batches of a class that no thread needs at the moment; all shelves are the exchange
//   message   a chain of blocks of one class on its way to the heap that owns their spans
//   orphan    a span whose heap's thread has ended; it belongs to the orphan lists until a thread adopts it
//
// Invariants
//   carved = free_count + blocks that are out;  free blocks of a span are in its list `free`
//   out = live blocks + those in bins, in reserves, held, on shelves and in messages
//   a bin and its room: blocks in the list + room = bin_capacity(class);  rooms[0] = 0
//   free_count = carved: the span is empty and is given back
//   a span with an owner is on one list of its heap: partial (something free or not carved) or full; those with free blocks stand in front
//   a span without an owner is on one orphan list of its class
//   who changes a span: the holder of its heap's lock; of an orphan, of the orphan lock; who changes its owner, of both
//   who changes bins and reserves: the heap's thread alone; what is held, anybody, by an exchange
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

namespace hakozuna::hz4 {

struct Heap;

// A free block. The smallest class has room for both words.
struct Block {
  Block* next;        // in its chain; null: the last
  uint64_t message;   // of the first block of a message: see pack()
};
static_assert(sizeof(Block) <= mem::slot_bytes_of(0));

// Blocks of a class, linked. The link of the last one is null, or anything if it is the only one: single blocks change hands without being touched.
struct Chain {
  Block* first = nullptr;
  uint32_t count = 0;
};

// A block and a number in a word: the address in the low 48 bits (the page map, too, knows no others), the number above. On a shelf, a batch; in the
// first block of a message, the first block of the next one and the number of its own.
inline constexpr uint32_t kCountShift = 48;
inline uint64_t pack(const Block* block, uint32_t count) {
  return uint64_t{count} << kCountShift | reinterpret_cast<uintptr_t>(block);
}
inline Chain unpack(uint64_t word) {
  return {reinterpret_cast<Block*>(word & low_bits(kCountShift)), static_cast<uint32_t>(word >> kCountShift)};
}

inline constexpr uint32_t kBinCount = mem::kClassCount + 1;
constexpr uint32_t bin_of(uint32_t size_class) { return size_class + 1; }
constexpr uint32_t class_of_bin(uint32_t bin) { return bin - 1; }
static_assert(kBinCount <= 256, "a bin fits a byte");

// Blocks in a batch, by class: enough that a slow path pays, few enough that a sleeping thread, which keeps up to two of them, holds little back.
inline constexpr size_t kBatchBytes = size_t{32} << 10;
inline constexpr uint32_t kMaxBatch = 64;
inline constexpr auto kBatches = [] {
  std::array<uint8_t, mem::kClassCount> table{};
  for (uint32_t c = 0; c < mem::kClassCount; ++c) {
    const size_t count = kBatchBytes / mem::slot_bytes_of(c);
    table[c] = static_cast<uint8_t>(count < 1 ? 1 : count > kMaxBatch ? kMaxBatch : count);
  }
  return table;
}();
inline uint32_t batch_of(uint32_t size_class) { return kBatches[size_class]; }

// Blocks above a page are shifted against the pages (mem/size_classes.h).
inline constexpr mem::SizeClasses kSizeClasses = mem::make_size_classes({.shifted_from = mem::kSmallClassCount});

// Blocks above this have no room in bins. A thread holds one of each such class where another can take it away if the thread sleeps.
inline constexpr size_t kMaxBinnedBytes = size_t{64} << 10;
inline constexpr uint32_t kBinnedClasses = mem::class_of(kMaxBinnedBytes) + 1;
inline uint32_t bin_capacity(uint32_t size_class) { return size_class < kBinnedClasses ? batch_of(size_class) : 0; }

// Bytes of all reserves of a heap at most.
inline constexpr size_t kMaxReserveBytes = size_t{1} << 20;

enum class SpanState : uint8_t {
  kNone = 0,
  kPartial,     // on the heap's partial list of its class
  kFull,        // on the heap's full list: every block is out
  kOrphan,      // on the orphans' list of its class
  kOrphanFull,  // likewise, with every block out
};

// The record of a chunk. The first chunk's describes the span; of the span's other chunks only `bin` and `head_distance` are set. All zero for a
// chunk in no span. Records are never given back: a stale pointer to one reads a record.
struct alignas(64) Span {
  uint8_t bin;                 // all that a free reads: 0 is not ours. Not atomic: while a block is live nobody writes its span's bin
  uint8_t head_distance;       // chunks back to the first one
  SpanState state;
  uint32_t carved;             // blocks that were handed out at some time, the lowest first; from there on the span is untouched
  uint32_t free_count;
  char* run;                   // first byte
  Block* free;                 // blocks that have come home
  std::atomic<Heap*> owner;    // null: an orphan. Release/acquire; a reader without the owner's lock must expect it to change
  Span* next;                  // links of the list the state names
  Span* previous;

  uint32_t size_class() const { return class_of_bin(bin); }
  uint32_t out() const { return carved - free_count; }
};
static_assert(sizeof(Span) == 64, "records are found by shifting");

// The bin of a small request, by its size in units of the least alignment.
inline constexpr auto kSmallBins = [] {
  std::array<uint8_t, mem::kSmallClassTable.size()> table{};
  for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<uint8_t>(bin_of(mem::kSmallClassTable[i]));
  return table;
}();

// One thread's heap.
struct Heap : core::ThreadHeap<Heap> {
  // The bins. Only the thread itself is at them, so they are gone with it in a forked child.
  Block* heads[kBinCount] = {};
  uint32_t rooms[kBinCount] = {};          // how many more blocks a bin takes
  // A copy: of what is in the heap the address is at hand.
  std::array<uint8_t, kSmallBins.size()> small_bins = kSmallBins;
  size_t small_bin(size_t size) const { return small_bins[(size + mem::kMinAlignment - 1) / mem::kMinAlignment]; }

  Chain reserves[kBinnedClasses] = {};     // up to a batch behind the bin, older than what is in it
  size_t reserve_bytes = 0;
  bool in_demand[kBinnedClasses] = {};     // the bin was empty since it was full last: a reserve is of use

  // The blocks that are held of the classes above. Exchanged by anybody: acquire and release, the block's contents go along.
  std::atomic<Block*> held[mem::kClassCount - kBinnedClasses] = {};

  // Spans. Under the lock, which the owner takes once a batch; others take it for an owner that sleeps.
  os::Lock lock{os::Rank::kHeap};
  List<Span> partial[mem::kClassCount];
  List<Span> full;
  mem::ClassGrowth<2> class_growth;  // at 4 small_interleaved_remote90 was a tenth slower

  // Blocks this thread has sent, less those it has received. The sum over all heaps is what is on its way. One writer, relaxed.
  std::atomic<int64_t> in_flight[mem::kClassCount] = {};

  bool has_spans() const {
    for (const List<Span>& list : partial) {
      if (!list.empty()) return true;
    }
    return !full.empty();
  }

  // The messages that have arrived, the latest first: pushed by any thread (compare-exchange), taken whole (exchange). Has a line of its own.
  alignas(arch::kCacheLineBytes) std::atomic<Block*> inbox{nullptr};
};

}  // namespace hakozuna::hz4
