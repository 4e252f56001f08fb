// The slow paths of allocation: where a bin's next blocks come from.
#pragma once

#include "hz4/spans.h"

namespace hakozuna::hz4 {

// Puts a span of the heap that is in no list where it belongs. Under the heap's lock.
void place_span(Heap* heap, Span* span);

// Makes a chain the contents of an empty bin. Owner.
void fill_bin(Heap* heap, uint32_t size_class, Chain chain);

}  // namespace hakozuna::hz4
