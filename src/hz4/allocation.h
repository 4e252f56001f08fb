// The slow paths of allocation: where a bin's next blocks come from.
#pragma once

#include "hz4/spans.h"

namespace hakozuna::hz4 {

// Puts a span of the heap that is in no list where it belongs. Under the heap's lock.
void place_span(Heap* heap, Span* span);

// Makes a chain the contents of an empty bin, or takes what is in one. Owner, as the next ones.
void fill_bin(Heap* heap, uint32_t size_class, Chain chain);
Chain empty_bin(Heap* heap, uint32_t size_class);

// Puts a chain behind the bin. False if there is one, or if the heap's reserves have grown large enough.
bool put_into_reserve(Heap* heap, uint32_t size_class, Chain chain);
Chain take_reserve(Heap* heap, uint32_t size_class);


// Takes the block of a class above the bins that a heap holds; null if there is none. Any thread.
Block* take_held(Heap* heap, uint32_t size_class);

// Holds a block; returns the one that was held before.
Block* hold(Heap* heap, uint32_t size_class, Block* block);

}  // namespace hakozuna::hz4
