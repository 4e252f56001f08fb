// What the layer above has to do before the process can have a lock of ours held while it forks.
#pragma once

namespace hakozuna::core {

// Called when a thread has its heap, by every such thread: the first one does it. That is before the constructors of most libraries, our own
// included, and before main. Constant, since the first allocation comes before any initialisation; defined by the front door, and null in programs
// without one.
extern void (*const first_heap_hook)();

}  // namespace hakozuna::core
