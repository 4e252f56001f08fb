// The slow paths of allocation: where a bin's next slots come from.
#pragma once

#include "hz8/layout.h"

namespace hakozuna::hz8 {

// Marks the bin's word as resident again, after pages of the span may have been returned.
void use_word_again(Bin& bin);

// Takes the bin's span out of it and puts it where it belongs: full, partial, or given back if it is empty.
void detach_bin(Heap* heap, uint32_t size_class);

// Puts a span of the heap that is in no list where it belongs by its free slots.
void place_span(Heap* heap, Span* span);

// Gives an empty span that is in no list back as a run.
void release_span(Heap* heap, Span* span);

// Runs: from the heap's cache or the supply; back to the cache, and from there, oldest first, to the supply.
char* take_run(Heap* heap, uint32_t order);
char* take_cold_run(Heap* heap, uint32_t order);
void give_up_cold_runs(Heap* heap);
void cache_run(Heap* heap, char* run, uint32_t order);
// A racing look, for whoever might give them up.
inline bool has_cached_runs(const Heap* heap) {
  return std::atomic_ref<const uint32_t>(heap->cached_count).load(std::memory_order_relaxed) != 0;
}
// Whether the run is in the heap's cache or one of its cold runs.
bool keeps_run(const Heap* heap, const char* run);
// Gives up the cached runs that became free before `before` (ms, low bits); UINT32_MAX: all. Any thread. Returns whether some stay.
bool give_up_cached_runs(Heap* heap, uint32_t before);
// Back to the supply, free since `freed_at` (ms, low bits), asking for a purge later if there is one to be done.
void release_run(char* run, uint32_t order, uint32_t freed_at);
inline void release_run(char* run, uint32_t order) {
  release_run(run, order, static_cast<uint32_t>(os::coarse_milliseconds()));
}

}  // namespace hakozuna::hz8
