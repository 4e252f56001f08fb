// hz3: every structure, and what the fast paths rely on.
//
// Glossary
//   door      of a 64 KiB chunk: which heap's span it is part of, and of which class (doors.h)
//   span      a run of chunks cut into slots of one class; described by the Span record of its first chunk
//   free bit  one per slot, set: the block is in its span. Clear: it is with the program, or on its way in a cache. The authority.
//   cached    a block that the program has freed and whose free bit is still clear: in a bin, an outbox, a stash or a carried chain. Each is in
//             exactly one chain, linked through its first word.
//   bin       a heap's stack of cached blocks of a class, for its owner
//   outbox    cached blocks of another heap, by the heap they belong to, on their way there
//   stash     cached blocks other threads have sent to a heap
//   orphan    a span whose heap's thread has ended; it belongs to the orphan lists until a thread adopts it
//
// Invariants
//   slot_count = free_count + cached + live blocks;  free_count = set bits
//   a block with a clear bit keeps its span: a span without one is given back at once
//   count of a bin = bound - room >= 0; at most bound but for the free that finds room < 0 and takes the excess out
//   a span is on exactly one list of its heap, or of the orphans: with free bits (kPartial) or without (kFull)
//   all chunks of a span have the door of its owner and its class, those of an orphan nobody's of that class
//   a span is changed under the lock of the heap that owns it, an orphan under the orphans' lock, and changes hands under both
//   bins and outboxes are their thread's alone; stashes are pushed to by anybody
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "common/arch/arch.h"
#include "common/base/base.h"
#include "common/core/thread_heap.h"
#include "common/mem/mem.h"
#include "common/os/os.h"
#include "hz3/doors.h"

namespace hakozuna::hz3 {

struct Heap;

inline constexpr mem::SizeClasses kSizeClasses = mem::make_size_classes({});

enum class SpanState : uint8_t {
  kNone = 0,
  kPartial,  // has free slots
  kFull,     // has none
};

// The record of a chunk. For the first chunk of a span it describes the span; otherwise all zero but for `door`. Records are never given back.
struct alignas(64) Span {
  std::atomic<Heap*> owner;    // null for an orphan; changed under the locks, read by anybody. Relaxed: what depends on it holds a lock
  char* run;                   // immutable while the span lives, as are the others marked (i)
  uint64_t* free_bits;         // (i) one word for each 64 slots; &one_word for spans of up to 64 slots
  uint64_t one_word;
  Span* next;                  // links of the list the state names; of a chain of spans about to be given back
  Span* previous;
  std::atomic<Door*> door;     // of this chunk, in regions other than the primary one; null: closed. Release/acquire as in the table
  uint16_t free_count;         // bits set
  uint8_t size_class;          // (i)
  uint8_t first_word;          // no word below it has a free bit
  SpanState state;
  uint8_t idle_ticks;          // ticks since blocks came or went: the pages of a span in use are not returned

  bool has_one_word() const { return free_bits == &one_word; }
  const mem::SizeClass& geometry() const { return kSizeClasses[size_class]; }
};
static_assert(sizeof(Span) == 64, "records are found by shifting");

// A cached block's first word.
inline void*& next_of(void* block) { return *static_cast<void**>(block); }

// The second word of a block on its way to its owner: the block kAhead places further on in the chain, null if there is none. Each block is in another core's
// cache; the owner fetches one while it sorts those before it.
inline constexpr uint32_t kAhead = 4;
inline void*& ahead_of(void* block) { return static_cast<void**>(block)[1]; }

// Cached blocks of one other heap.
struct Outbox {
  Heap* owner = nullptr;
  uint32_t count = 0;
  size_t bytes = 0;
  void* first = nullptr;
  void* last = nullptr;
  void* latest[kAhead] = {};  // the blocks that came last; the one that came at `count` at count % kAhead
};
inline constexpr uint32_t kOutboxes = 32;  // by owner: two owners that share one send each other's blocks early

// A heap's stack of cached blocks of a class.
struct Bin {
  void* head = nullptr;  // the youngest
  int32_t room = 0;      // how many blocks more the bin may take; others read it and `bound` for the statistics
  int32_t bound = 0;     // most blocks in the bin
  uint32_t count() const { return static_cast<uint32_t>(bound - room); }
};
static_assert(sizeof(Bin) == sizeof(Door), "all doors of a heap are at the same distance from their bins");
static_assert(mem::kClassCount * sizeof(Bin) / 8 <= 256, "the place of a bin, in units of 8 bytes, fits a byte");

// Requests up to here are served by the fast path.
inline constexpr size_t kFastLimit = size_t{64} << 10;
inline constexpr size_t kFastSizes = kFastLimit / mem::kMinAlignment + 1;

// The bins of a heap, and how they are found.
struct Bins {
  Bin bin[mem::kClassCount] = {};
  Door door[mem::kClassCount] = {};        // apart from the bins: other threads read them when they free
  uint8_t place_of_size[kFastSizes] = {};  // place of a size's bin, in units of 8 bytes, by (size + 15) / 16. A copy for each heap: the pointer is at hand

  // Not by the members' names: for a constant size a compiler would look beyond the table's end, where the program never gets.
  Bin& of_size(size_t size) {
    char* const start = reinterpret_cast<char*>(this);
    const size_t index = (size + mem::kMinAlignment - 1) / mem::kMinAlignment;
    const size_t place = *reinterpret_cast<uint8_t*>(start + offsetof(Bins, place_of_size) + index);
    return *reinterpret_cast<Bin*>(start + place * 8);
  }

  // From a door to the bin behind it.
  static Bin& behind(Door* door) {
    constexpr size_t kDistance = sizeof(bin);
    return *reinterpret_cast<Bin*>(reinterpret_cast<char*>(door) - kDistance);
  }
};
static_assert(offsetof(Bins, bin) == 0, "see of_size()");
static_assert(offsetof(Bins, door) == sizeof(Bins::bin), "see behind()");

// One thread's heap.
struct Heap : core::ThreadHeap<Heap> {
  constexpr Heap() = default;

  // Owner.
  Bins bins;
  bool refilled[mem::kClassCount] = {};   // since the bin was last too full
  size_t growth = 0;                      // bytes by which bounds have been raised
  size_t outbox_bytes = 0;
  bool has_sent = false;                  // since the last tick
  Outbox outboxes[kOutboxes] = {};

  // In the list of all heaps there are, whether they serve or not; constant.
  Heap* next_of_all = nullptr;
  uint32_t number = 0;  // in that list, for spreading

  Bin& bin(uint32_t size_class) { return bins.bin[size_class]; }
  Door* door(uint32_t size_class) { return &bins.door[size_class]; }

  // Under `lock`.
  os::Lock lock{os::Rank::kHeap};
  List<Span> partial[mem::kClassCount];
  List<Span> full;
  mem::ClassGrowth<2> class_growth;  // at 4 small_interleaved_remote90 was a tenth slower
  void* carried = nullptr;   // a chain taken off the stash, not sorted yet
  std::atomic<bool> dirty{false};  // there may be free pages in partial spans. Relaxed: a hint to who looks without the lock

  // Whether the heap serves a thread. seq_cst: who pushes to a stash and then finds false sees to the stash itself; who ends a heap sets it
  // and then looks at the stash.
  std::atomic<bool> serving{false};

  // Pushed to by any thread (compare-exchange, release), taken whole (exchange, acquire).
  alignas(arch::kCacheLineBytes) std::atomic<void*> stash{nullptr};
};

}  // namespace hakozuna::hz3
