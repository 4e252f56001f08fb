// Depots: the spans of each class, and moving blocks between them and bins.
#pragma once

#include "hz10/layout.h"
#include "hz10/spans.h"

namespace hakozuna::hz10 {

extern Depot depots[mem::kClassCount];

// Takes up to `wanted` blocks of the class, at least one, from the stash or else from spans, and stores them downwards from `end`. Returns how many;
// 0 when the system has no memory. A new span is carved from the heap's runs.
uint32_t take_blocks(Heap* heap, uint32_t size_class, void** end, uint32_t wanted);

// One block of a class whose spans have one word, and whether it reads as zero; null when the system has no memory.
Slot take_block(Heap* heap, uint32_t size_class);

// Gives blocks of the class to the stash, and to their spans when that is full.
void put_blocks(Heap* heap, uint32_t size_class, void* const* blocks, uint32_t count);

// Gives blocks back to their spans. An empty span is kept if nothing else of the class is open, else its run goes to the heap's cache (to the supply
// where `heap` is null). What is no block in use is reported.
void put_in_spans(Heap* heap, uint32_t size_class, void* const* blocks, uint32_t count);

// Gives all stashes to the spans, and the runs of empty spans to the supply.
void release_empty_spans();

// Returns the free pages of spans that were not used in the last `passes` calls, and what is empty then, after giving them what the stashes did not
// need since the last call. `more`: there will be something to return later.
size_t return_free_pages(uint8_t passes, bool& more);

}  // namespace hakozuna::hz10
