// Which memory of a span or a heap can go back. core/heap_care.h has the timers that see to it: two ticks after a span was last used its free
// pages are returned.
#pragma once

#include "hz8/layout.h"
#include "hz8/spans.h"

namespace hakozuna::hz8 {

// Remembers, after pages may have been returned, which free slots have to be marked resident when they are handed out.
void note_returned_pages(Span* span);

// Returns to the system the pages of a span on which there is no slot but those for which is_free(slot) holds. Returns the bytes.
template <class IsFree>
size_t discard_slots(Span* span, IsFree&& is_free) {
  char* const run = run_of(span);
  size_t bytes = 0;
  for (uint32_t slot = 0; slot < span->slot_count;) {
    if (!is_free(slot)) {
      ++slot;
      continue;
    }
    const uint32_t first = slot;
    while (slot < span->slot_count && is_free(slot)) ++slot;
    char* const start = first == 0 ? run : span->first_slot + size_t{first} * span->slot_bytes;
    char* const end = slot == span->slot_count ? run + run_bytes(span) : span->first_slot + size_t{slot} * span->slot_bytes;
    bytes += mem::chunk_supply.discard(start, static_cast<size_t>(end - start));
  }
  return bytes;
}

// The same for the free slots of a span that is in no bin and that the caller owns.
size_t discard_free_pages(Span* span);

}  // namespace hakozuna::hz8
