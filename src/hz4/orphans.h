// Spans whose thread has ended.
#pragma once

#include "hz4/spans.h"

namespace hakozuna::hz4 {

// Makes a span in no list an orphan, or unmakes it if it is empty. Under the lock of the heap that owns it.
void make_orphan(Span* span, EmptyRuns& empty);

// Takes an orphan of the class that can give blocks into the heap's partial list. False if there is none. Under the heap's lock.
bool adopt_orphan(Heap* heap, uint32_t size_class);

// Returns the blocks of a chain to the orphans they belong to. Those whose spans have an owner by now are returned as a chain.
Block* bring_home_to_orphans(Block* chain);

os::Lock& orphan_lock();

}  // namespace hakozuna::hz4
