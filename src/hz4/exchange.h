// The exchange: batches of free blocks that no thread needs at the moment, for whichever thread needs one next. Warm memory changes hands here,
// a batch at a time and without a look at the blocks.
#pragma once

#include "hz4/layout.h"

namespace hakozuna::hz4 {

// Leaves a batch on the shelf of its class. False if the shelf is full.
bool leave_batch(uint32_t size_class, Chain batch);

// Takes the batch that was left last; empty if there is none.
Chain take_batch(uint32_t size_class);

// Looks every `delay_ms` at what has not been needed since the last look: as many batches of a class as its shelf has had at least all the time. Sends
// that home, by and by if it is much. Returns whether there is more to do later.
bool send_surplus_home(Heap* self, uint64_t now_ms, uint64_t delay_ms);

// Sends everything home.
void empty_exchange(Heap* self);

// How many blocks of the class are on its shelf.
uint64_t blocks_on_shelf(uint32_t size_class);

// The locks of the exchange, for a fork.
os::Lock& shelf_lock(uint32_t size_class);

}  // namespace hakozuna::hz4
