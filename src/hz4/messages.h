// How free blocks come home to their spans: sorted by owner, in messages of up to a batch, one compare-exchange each.
#pragma once

#include "hz4/spans.h"

namespace hakozuna::hz4 {

// Sends the blocks of a chain, of any classes, home. `self`: the heap the calling thread acts for; its own blocks go to its spans at once. Null
// for a thread without a heap. With no lock held.
void send_home(Block* chain, Heap* self);
void send_home(Chain chain, Heap* self);

inline bool has_messages(const Heap* heap) { return heap->inbox.load(std::memory_order_seq_cst) != nullptr; }

// Takes the messages that have arrived. What fits goes to bins and reserves whole, whoever owns it by now; the rest goes home. Owner.
void receive(Heap* heap);

// Takes the messages of any heap as one chain of blocks of mixed classes, on behalf of `self`.
Block* take_messages(Heap* heap, Heap* self);

// Takes the messages of a heap, and the blocks it holds, for an owner that sleeps, and returns what is its to its spans. Runs that become free go to the
// supply.
void serve(Heap* heap, Heap* self);

// How many blocks of a class are on their way. Exact while nothing is in motion.
int64_t blocks_in_flight(uint32_t size_class);

// In a forked child, with the messages of all heaps.
void forget_messages_in_flight(uint32_t size_class);

}  // namespace hakozuna::hz4
