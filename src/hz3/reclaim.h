// Which memory of a heap can go back. core/heap_care.h has the timers that see to it.
#pragma once

#include "hz3/layout.h"

namespace hakozuna::hz3 {

// Counts a slow event of the heap that may have freed something: does at every `events_per_look`th what is due, and sees to it that the heap looks at
// the clock from now on.
void count_event(Heap* heap, uint32_t events_per_look);

// Puts everything the heap has cached where it belongs. Owner.
void empty_caches(Heap* heap);

}  // namespace hakozuna::hz3
