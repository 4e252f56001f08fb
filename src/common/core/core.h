// Layer core: what is the same for all lines and is neither memory nor system.
//
//   line.h         what a line is: the concept the front door, the tests and the benches know
//   options.h      the options, by name and type, and at run time
//   diagnostics.h  one line about what is wrong, and what happens then
//   statistics.h   the statistics as JSON, table and XML
//   thread_heap.h  what the heaps of all lines have in common, and the registry of them
//   heap_care.h    a heap's start and end, and the timers by which memory goes back
//   large.h        large blocks under the options
//   memory_statistics.h  the part of the statistics that is the same for all lines
//
// Behind options.h: option_table.h (the one table), environment.h (where settings come from),
// option_values.h (what holds now), option_messages.h (complaints and help).
#pragma once

#include "common/core/diagnostics.h"
#include "common/core/heap_care.h"
#include "common/core/large.h"
#include "common/core/line.h"
#include "common/core/memory_statistics.h"
#include "common/core/options.h"
#include "common/core/statistics.h"
#include "common/core/thread_heap.h"
