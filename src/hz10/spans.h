// Spans: making them of runs, finding them from pointers, taking and giving back slots. All but finding under the lock of the depot.
#pragma once

#include "hz10/hz10.h"

namespace hakozuna::hz10 {

// The span `address` lies in; null if it lies in no span of ours. No lock; the span of a live block stays.
Span* find_span_elsewhere(const void* address);
inline Span* span_at(char* base, size_t offset) {
  ChunkEntry entry;
  __atomic_load(chunk_entry(base, offset), &entry, __ATOMIC_ACQUIRE);  // pairs with make_span()
  return entry.span();
}
inline Span* find_span(const void* address) {
  char* const base = mem::primary_base;
  const size_t offset = static_cast<size_t>(static_cast<const char*>(address) - base);
  return offset < mem::primary_bytes ? span_at(base, offset) : find_span_elsewhere(address);
}

// First byte and size of a span's run.
inline char* run_of(const Span* span) { return span->first_slot - kSizeClasses[span->size_class].first_slot; }
inline size_t run_bytes(const Span* span) { return mem::kChunkBytes << span->order; }

inline mem::SlotPosition position_in(const Span* span, const void* address) {
  mem::SlotPosition at =
      mem::slot_position(static_cast<size_t>(static_cast<const char*>(address) - span->first_slot), span->reciprocal);
  at.exact &= at.slot < span->slot_count;
  return at;
}

// A racing look without the lock.
inline bool is_free(const Span* span, uint64_t slot) { return (racing_read(span->words()[slot / 64]) >> (slot % 64)) & 1; }

inline uint32_t used_slots(const Span* span) { return uint32_t{span->slot_count} - racing_read(span->free_count); }

// Of the runs of all spans. Relaxed: a hint.
extern std::atomic<size_t> span_bytes;

// Makes the run an open span of the class, with all slots free. Null without memory for its record.
Span* make_span(Depot& depot, char* run, uint32_t size_class);

// Undoes make_span(): the chunk entries are nobody's again. All slots are free. Returns the run.
char* unmake_span(Depot& depot, Span* span);

// Takes up to `wanted` slots of the span, which is open, lowest first, and stores them downwards from `end`: the lowest is popped first. Returns how
// many, at least one.
uint32_t take_slots(Span* span, void** end, uint32_t wanted);

// One slot of an open span of one word; whether it reads as zero.
struct Slot {
  void* address = nullptr;
  bool zeroed = false;
};
Slot take_slot(Span* span);

// Returns to the system the pages of the span on which there is no slot in use. Returns the bytes.
size_t discard_free_pages(Span* span);

// That the parts of a span agree with each other (checked builds).
void check_span(const Span* span);

}  // namespace hakozuna::hz10
