// hz8: every structure, and what the fast paths rely on.
//
// Glossary
//   span      a run of chunks cut into slots of one class; described by the Span record of its first chunk
//   slot      place of one block
//   free bit  one per slot, set: the slot may be handed out. Clear: it holds a block (or is pending). The only authority.
//   pending   one bit per slot, set: freed by a thread that does not own the span, not yet collected by the one that does
//   heap      what a thread owns: a current span for each class, lists of its other spans, a queue of spans with pending bits
//   orphan    a span whose heap's thread has ended; it belongs to the orphan lists until a thread adopts it
//
// Invariants
//   allocated slots = slot_count - popcount(free bits);  live blocks = allocated slots - popcount(pending bits)
//   a slot is never free and pending
//   a span with an owner is in exactly one place: a bin of its heap (kCurrent), its partial list (kPartial) or its full list (kFull)
//   an orphan is on exactly one list of its class
//   queued is the span's token: whoever turns it from false puts the span on its owner's queue, and who takes it off turns it back before
//   looking at the pending bits. pending != 0 implies queued, or that a thread is about to turn it. The converse need not hold, and the
//   token belongs to the record, not to the span: a span is given back only by who holds its token, but a late thread may queue the record
//   after that, which is found to have nothing pending.
//   a pending slot may be taken by any thread that clears its bit: the slot is allocated again then
//   only the owner's thread, or whoever holds the orphan lock for an orphan, changes free bits
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "common/arch/arch.h"
#include "common/base/base.h"
#include "common/core/thread_heap.h"
#include "common/mem/mem.h"
#include "common/os/os.h"

namespace hakozuna::hz8 {

struct Heap;

enum class SpanState : uint8_t {
  kNone = 0,
  kCurrent,     // in a bin
  kPartial,     // has free slots, on the heap's partial list of its class
  kFull,        // has none, on the heap's full list
  kOrphan,      // has free slots, on the orphans' list of its class
  kOrphanFull,  // has none, likewise
};

// Threshold of Span::countdown that no program reaches: no event wanted.
inline constexpr uint32_t kNoEvent = UINT32_MAX;

// Frees into a current span until the owner looks whether its timer is due. A thread that was busy, and so is not armed, and becomes slow is late
// by as many; they cost 0.01 instructions a free.
inline constexpr uint32_t kQuietFrees = 1024;

// The record of a chunk. For the first chunk of a span it describes the span; for its other chunks, and for chunks in no span, it is
// all zero but for `head_distance`, so that no thread owns it and every pointer into them takes the slow path. Records are
// never given back: a stale pointer to one reads a record.
struct alignas(128) Span {
  // Line 0: all that a free by the owner reads and writes.
  std::atomic<Heap*> owner;     // whose thread frees locally. Written by the owner, or under the orphan lock; release/acquire
  char* first_slot;             // immutable while the span lives, as are the others marked (i)
  uint64_t reciprocal;          // (i) ceil(2^64 / slot_bytes)
  uint64_t* free_bits;          // (i) one word for each 64 slots; &one_word for spans of up to 64 slots
  uint64_t one_word;
  uint32_t countdown;           // owner; local frees until something may have to be done: a few for a full span, the allocated slots
                                // of a partial one (it may be empty then), kQuietFrees for a current one
  uint32_t slot_bytes;          // (i)
  uint8_t size_class;           // (i)
  uint8_t order;                // (i)
  SpanState state;              // owner
  uint8_t head_distance;        // in other chunks of a span: chunks back to the first one
  uint16_t slot_count;          // (i)
  uint16_t idle_ticks;          // ticks since a refill took slots: the pages of a span in use are not returned

  // Line 1: written by other threads.
  // Spans of up to 64 slots: the pending bits. Larger ones: which of pending_words are not 0. Who turns it from 0 sees to the token. All
  // changes are read-modify-writes and seq_cst, for the sake of the order against `queued`; they also hand the blocks' contents over.
  alignas(64) std::atomic<uint64_t> pending;
  std::atomic<uint64_t>* pending_words;  // (i)
  Span* queue_next;             // of the token holder
  std::atomic<bool> queued;     // the token; seq_cst
  bool pages_returned;          // of the token holder: some of pending slots have been since the span was last collected
  Span* next;                   // links of the list the state names
  Span* previous;
  // Owner. What must be marked resident before it is handed out, because some of its pages are not: for medium classes by slot (a subset of the
  // free bits), for small ones by word. And the slots of those, medium classes only, that read as zero.
  uint64_t unmarked;
  uint64_t fresh;

  bool has_one_word() const { return free_bits == &one_word; }
  uint32_t word_count() const { return (uint32_t{slot_count} + 63) / 64; }
};
static_assert(sizeof(Span) == 128, "records are found by shifting");
static_assert(offsetof(Span, slot_count) + sizeof(uint16_t) <= 64, "a local free stays in one line");
static_assert(offsetof(Span, pending) == 64);

// Where a thread allocates blocks of a class: a word of free bits of the current span. There is always one: a word that is 0 when there
// is no span.
struct Bin {
  uint64_t* word;       // slots are given out of this word, lowest first
  char* word_base;      // address of the slot of bit 0
  uint64_t slot_bytes;  // of the class, for the multiplication
  Span* span;           // null if none; state kCurrent
};
static_assert(sizeof(Bin) == 32, "bins are found by shifting");

// Shifted runs have several chunks, and what looks like a slot behind the last one is not in the first: the fast path, which knows only first chunks,
// need not compare with the number of slots.
inline constexpr uint32_t kShiftedFrom = mem::kSmallClassCount;
inline constexpr mem::SizeClasses kSizeClasses = mem::make_size_classes({.least_slots = 16, .shifted_from = kShiftedFrom});
static_assert(kSizeClasses[kShiftedFrom].order >= 1);

// Classes whose spans have one word, and so can have their pending slots taken.
inline constexpr uint32_t kFirstOneWordClass = mem::class_of(1024);
static_assert(kSizeClasses[kFirstOneWordClass].slot_count <= 64 && kSizeClasses[kFirstOneWordClass - 1].slot_count > 64);

// For each class whose pending slots can be taken, spans in which this thread has lately freed blocks of others, the latest last: where to look for one
// before new memory is taken. Hints only: the spans may have become anything since.
struct RemoteHints {
  static constexpr uint32_t kSpans = 32;  // of 16 KiB blocks, what a drained inbox of some hundred blocks leaves
  static constexpr uint32_t kClasses = mem::kClassCount - kFirstOneWordClass;

  struct Position {
    uint32_t next;   // modulo kSpans, where the next one goes
    uint32_t count;  // how many there are
  };
  Position positions[kClasses] = {};
  // Not initialised, and apart: a thread that frees no blocks of others touches none of their pages.
  Span* spans[kClasses][kSpans];
};

// Bytes of spans whose tokens a thread holds before it delivers them. What is pending in them is out of their owners' sight.
inline constexpr size_t kHeldBytes = 512 * 1024;

// One thread's heap.
struct Heap : core::ThreadHeap<Heap> {
  constexpr Heap() = default;
  // For the heap of threads that have none.
  constexpr explicit Heap(const Bin& first) : bins{first}, remote_hints{} {}

  Bin bins[mem::kClassCount] = {};
  List<Span> partial[mem::kClassCount];
  List<Span> full;
  Span* carried = nullptr;   // taken off the queue, not collected yet
  // 4: at 2 the peak of small_interleaved_remote90 was 192 MiB and not 165, and no faster (T=16, medians of 7).
  mem::ClassGrowth<4> class_growth;
  uint32_t detach_next = 0;  // the bin whose idleness is checked next
  uint64_t idle_word[mem::kClassCount] = {};  // the bins' words when last looked at

  // Spans with pending bits: pushed by any thread (compare-exchange, release), taken whole (exchange, acquire) by the owner or by
  // a purging thread that pushes them back.
  alignas(arch::kCacheLineBytes) std::atomic<Span*> queue{nullptr};

  // Tokens this thread has taken and not delivered yet, linked by queue_next, so that a queue is touched once for many spans and their pending bits
  // add up meanwhile. Pushed by the thread itself (compare-exchange, release), taken whole (exchange, acquire) by it or by a purging thread.
  alignas(arch::kCacheLineBytes) std::atomic<Span*> held{nullptr};
  size_t held_bytes = 0;  // owner; of the spans pushed to `held` since it was last delivered

  // The record this thread is about to take the token of (notify); its page is not returned meanwhile. seq_cst.
  std::atomic<Span*> notifying{nullptr};

  RemoteHints remote_hints;  // owner
};

// The word of bins that have no span.
extern uint64_t no_free_slots;

}  // namespace hakozuna::hz8
