// Spans whose thread has ended.
#pragma once

#include "hz3/layout.h"

namespace hakozuna::hz3 {

// Makes a span that is in no list an orphan. Under the lock of the heap that gives it up.
void make_orphan(Span* span);

// Makes an orphan of the class with free slots the heap's, in no list; null if there is none. Under the heap's lock.
Span* take_orphan(uint32_t size_class, Heap* heap);

// Frees a block of an orphan: an empty span is given back, another is adopted by the calling thread's heap, if that allocates blocks of the class, so that
// its further frees are local. False, and nothing is done, if the span is no orphan any more.
bool free_orphan(void* block, Heap* heap);

// Returns pages of orphans that hold no block, once nothing has changed among them for the delay; whether there is more to do later.
bool purge_orphans(uint64_t now_ms, uint64_t delay_ms);
size_t discard_orphan_pages();

os::Lock& orphan_lock();

}  // namespace hakozuna::hz3
