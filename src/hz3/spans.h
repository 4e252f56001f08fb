// Spans: making them of runs, finding them from pointers, taking blocks out of them and putting blocks back.
#pragma once

#include "common/core/diagnostics.h"
#include "hz3/layout.h"

namespace hakozuna::hz3 {

// What stands at an address, as far as its class says. No lock.
struct Position {
  Span* span;
  uint64_t slot;   // valid if exact
  bool exact;      // the first byte of a slot
};
// The address lies in a span of that class.
Position locate(const void* address, uint32_t size_class);

// The span an address lies in; null if it lies in none.
Span* find_span(const void* address);

// The record of a run of ours, whatever it is used for.
Span* record_of_run(const char* run);

// Makes the run a span of the class, all slots free, owned by `heap`, in no list. Under the heap's lock. False without memory for what belongs to it; the
// record then knows the run and the class, and no more.
bool make_span(Span* span, char* run, uint32_t size_class, Heap* heap);

// Undoes it. The span has all its blocks and is in no list.
void unmake_span(Span* span);

// Changes hands: whoever `owner` is, null for the orphans. Under both locks.
void set_owner(Span* span, Heap* owner);

// Blocks taken out of a span: the first one is not written to, the others are a chain.
struct Taken {
  void* first = nullptr;
  void* rest = nullptr;
  uint32_t rest_count = 0;
  bool zeroed = false;  // the first block reads as zero
};
// At most `limit` blocks, lowest first, fewer if they would take new memory. The span has free slots. Its pages are marked.
Taken take_blocks(Span* span, uint32_t limit);

// Puts a block back into its span, whose lock the caller holds. What is wrong with it, if anything: then nothing is done.
enum class Put : uint8_t { kDone, kInterior, kMisaligned, kTailSlack, kFreed };
Put put_block(Span* span, void* block);
core::Misuse misuse_of(Put wrong);

inline bool is_empty(const Span* span) { return span->free_count == span->geometry().slot_count; }
inline bool is_free(const Span* span, uint64_t slot) {
  return ((racing_read(span->free_bits[slot / 64]) >> (slot % 64)) & 1) != 0;
}

// What an address that is no slot's first byte is.
Verdict verdict_inside(const Position& at, const void* address);

// Returns to the system the pages of a span that hold no block out of it. Returns the bytes.
size_t discard_free_pages(Span* span);

// Checked builds: whether the record agrees with itself.
void check_span(const Span* span);

}  // namespace hakozuna::hz3
