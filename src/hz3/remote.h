// Frees by threads that do not own the span: outboxes and stashes. layout.h has the invariants.
#pragma once

#include "hz3/layout.h"

namespace hakozuna::hz3 {

// Frees a block of `bytes` that belongs to `owner`. `heap` is the calling thread's, &no_heap if it has none.
void free_remotely(Heap* heap, void* block, Heap* owner, size_t bytes);

// Sends the contents of all outboxes on their way. Owner.
void send_all(Heap* heap);

// Hands a cached block that is in nobody's chain to whoever owns its span now. With no lock held.
void deliver(void* block);

// Hands on all that is in the stash of a heap that owns nothing.
void forward_stash(Heap* heap);

}  // namespace hakozuna::hz3
