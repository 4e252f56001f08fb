// Spans whose thread has ended.
#pragma once

#include "hz8/layout.h"

namespace hakozuna::hz8 {

// Makes a span in no list an orphan, or gives it back if it is empty.
void make_orphan(Span* span);

// Takes an orphan of the class with free slots into the heap's partial list. False if there is none.
bool adopt_orphan(Heap* heap, uint32_t size_class);

// The holder of an orphan's token collects it: an empty span is given back, another is adopted by the calling thread if it has a heap,
// so that its further frees are local. False if the token still has to be delivered: the span is no orphan any more.
bool collect_orphan(Span* span);

os::Lock& orphan_lock();

}  // namespace hakozuna::hz8
