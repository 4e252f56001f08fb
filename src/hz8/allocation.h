// The slow paths of allocation: where a bin's next slots come from.
#pragma once

#include "hz8/layout.h"

namespace hakozuna::hz8 {

// Marks the bin's word as resident again, after pages of the span may have been returned.
void use_word_again(Bin& bin);

// Takes the bin's span out of it and puts it where it belongs: full, partial, or given back if it is empty.
void detach_bin(Heap* heap, uint32_t size_class);

// Puts a span of the heap that is in no list, with so many slots allocated, on the full list or a partial one.
void list_span(Heap* heap, Span* span, uint32_t allocated);

// The same, but an empty span is given back.
void place_span(Heap* heap, Span* span);

// Gives an empty span that is in no list back as a run.
void release_span(Heap* heap, Span* span);

}  // namespace hakozuna::hz8
