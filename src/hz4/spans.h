// Spans: making them of runs, finding them from pointers, blocks that leave them and come home.
#pragma once

#include "common/core/diagnostics.h"
#include "hz4/layout.h"

namespace hakozuna::hz4 {

// The record of the span `address` lies in; null if it lies in no span of ours.
Span* find_span(const void* address);

// The span of a block.
Span* span_of(const Block* block);

// First byte of a span's run.
char* run_of(const Span* span);

// Where an address stands in a span.
struct Position {
  uint64_t slot = 0;   // valid if exact
  bool exact = false;  // the first byte of a slot
};
Position position_in(const Span* span, uint32_t size_class, const void* address);

// Makes the run a span of the class, nothing carved, owned by `heap`, in no list. Under the heap's lock.
Span* make_span(char* run, uint32_t size_class, Heap* heap);

// Runs that have become free under a lock, to be given back after it.
struct EmptyRuns {
  Span* first = nullptr;  // linked by next; each in its last moment as the head record of a run without a span
};

// Undoes make_span(): the chunk records are nobody's again. The span is empty and in no list.
void unmake_span(Span* span, EmptyRuns& empty);

// Gives the runs to the heap's cache, or to the supply if there is no heap. With no lock held.
void release_runs(EmptyRuns& empty, Heap* heap);

// Takes up to a batch of the free blocks of a span.
Chain take_free(Span* span);

// A block to hand out, and how many bytes of it may not be zero: all that come after are.
struct Slot {
  void* address = nullptr;
  size_t dirty = SIZE_MAX;
};

// Takes the next block that was never handed out.
Slot carve_one(Span* span);

// Puts a block into its span's list of free blocks. False, having noted it, if it is no block that is out.
bool bring_home(Span* span, Block* block, core::MisuseNotes& notes);

// Whether the list of a span holds what the record says (checked builds).
void check_span(const Span* span);

}  // namespace hakozuna::hz4
