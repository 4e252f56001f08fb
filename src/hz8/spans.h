// Spans: making them of runs, finding them from pointers, counting in them, moving them between the places they can be in.
#pragma once

#include "common/core/diagnostics.h"
#include "hz8/layout.h"

namespace hakozuna::hz8 {

// The record of the span `address` lies in; null if it lies in no span of ours.
Span* find_span(const void* address);

// First byte and size of a span's run.
char* run_of(const Span* span);
inline size_t run_bytes(const Span* span) { return mem::kChunkBytes << span->order; }

// Makes the run a span of the class, all slots free, owned by `heap`, in no list. False without memory for its bitmaps.
bool make_span(char* run, uint32_t size_class, Heap* heap);

// Undoes make_span(): the chunk records are nobody's again. The span is empty and in no list. False, and nothing is done, while the span is on a
// queue: it is to be tried again when it comes off.
bool unmake_span(Span* span);

uint32_t free_slots(const Span* span);
inline uint32_t allocated_slots(const Span* span) { return span->slot_count - free_slots(span); }
uint32_t pending_slots(const Span* span);

// Whether the slot has a free bit. For who may change free bits; others read the word as racing.
inline bool is_free(const Span* span, uint64_t slot) { return ((span->free_bits[slot / 64] >> (slot % 64)) & 1) != 0; }

// Frees a slot; false if it is free already.
inline bool set_free_bit(Span* span, uint64_t slot) {
  uint64_t& word = span->free_bits[slot / 64];
  const uint64_t bit = uint64_t{1} << (slot % 64);
  if (word & bit) return false;
  word |= bit;
  return true;
}

// Collects the pending bits into free bits. The caller owns the span, or has the orphan lock, and has just turned its token back. Returns the
// number of blocks; if one was free already, that is noted.
uint32_t collect_pending(Span* span, core::MisuseNotes& notes);

// Notes that the slot was freed twice.
void note_double_free(const Span* span, uint64_t slot, core::MisuseNotes& notes);

// Whether the slot has a pending bit.
bool is_pending(const Span* span, uint64_t slot);

// In a forked child: blocks that a thread which is not there had taken, and whose pages it had not marked yet, hold memory as others do.
void mark_live_slots(const Span* span);

// Whether no page of the span that is returned, or was never touched, holds a live block (checked builds).
void check_span(const Span* span);

}  // namespace hakozuna::hz8
