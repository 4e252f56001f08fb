// hz3: every structure, and what the fast paths rely on.
//
// Glossary
//   tag       of a 64 KiB chunk: which heap's span it is part of, and of which class; 0 where there is no span
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
//   all chunks of a span have its tag: (owner's tag | class), or (kNobody | class) for an orphan
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
#include "hz3/tags.h"

namespace hakozuna::hz3 {

struct Heap;

enum class SpanState : uint8_t {
  kNone = 0,
  kPartial,  // has free slots
  kFull,     // has none
};

// The record of a chunk. For the first chunk of a span it describes the span; otherwise all zero but for `tag`. Records are never given back.
struct alignas(64) Span {
  std::atomic<Heap*> owner;    // null for an orphan; changed under the locks, read by anybody. Relaxed: what depends on it holds a lock
  char* run;                   // immutable while the span lives, as are the others marked (i)
  uint64_t* free_bits;         // (i) one word for each 64 slots; &one_word for spans of up to 64 slots
  uint64_t one_word;
  Span* next;                  // links of the list the state names; of a chain of spans about to be given back
  Span* previous;
  std::atomic<uint32_t> tag;   // of this chunk, in regions other than the primary one; release/acquire as in the table
  uint16_t free_count;         // bits set
  uint8_t size_class;          // (i)
  uint8_t first_word;          // no word below it has a free bit
  SpanState state;
  uint8_t idle_ticks;          // ticks since blocks came or went: the pages of a span in use are not returned

  bool has_one_word() const { return free_bits == &one_word; }
  const mem::SizeClass& geometry() const { return mem::kSizeClasses[size_class]; }
};
static_assert(sizeof(Span) == 64, "records are found by shifting");

// A cached block's first word.
inline void*& next_of(void* block) { return *static_cast<void**>(block); }

// Cached blocks of one other heap.
struct Outbox {
  uint32_t owner = 0;  // tag of the heap, without a class
  uint32_t count = 0;
  size_t bytes = 0;
  void* first = nullptr;
  void* last = nullptr;
};
inline constexpr uint32_t kOutboxes = 32;  // by owner, a power of two: two owners that share one send each other's blocks early

// Requests up to here are served by the fast path.
inline constexpr size_t kFastLimit = size_t{64} << 10;
inline constexpr size_t kFastSizes = kFastLimit / mem::kMinAlignment + 1;

// One thread's heap.
struct Heap : core::ThreadHeap<Heap> {
  constexpr Heap() = default;

  // The fast paths'. Owner; others read room and bound for the statistics.
  uint32_t tag = kNoHeap;                      // set once, when the record is new
  void* head[mem::kClassCount] = {};           // the bins: the youngest block of each
  int32_t room[mem::kClassCount] = {};         // how many blocks more the bin may take
  uint8_t class_of_size[kFastSizes] = {};      // by (size + 15) / 16. A copy for each heap: reached from the pointer that is at hand

  // Owner.
  int32_t bound[mem::kClassCount] = {};        // most blocks in the bin
  bool refilled[mem::kClassCount] = {};        // since the bin was last too full
  size_t growth = 0;                           // bytes by which bounds have been raised
  size_t outbox_bytes = 0;
  Outbox outboxes[kOutboxes] = {};

  // Under `lock`.
  os::Lock lock{os::Rank::kHeap};
  List<Span> partial[mem::kClassCount];
  List<Span> full;
  void* carried = nullptr;   // a chain taken off the stash, not sorted yet
  std::atomic<bool> dirty{false};  // there may be free pages in partial spans. Relaxed: a hint to who looks without the lock

  // Whether the heap serves a thread. seq_cst: who pushes to a stash and then finds false sees to the stash itself; who ends a heap sets it
  // and then looks at the stash.
  std::atomic<bool> serving{false};

  // Pushed to by any thread (compare-exchange, release), taken whole (exchange, acquire).
  alignas(arch::kCacheLineBytes) std::atomic<void*> stash{nullptr};
};
static_assert(mem::kClassCount <= kTagClasses, "a class fits a tag");

}  // namespace hakozuna::hz3
