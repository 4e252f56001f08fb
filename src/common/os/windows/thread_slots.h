// Whether the process can be served at all: see os/thread_slot.h.
#pragma once

namespace hakozuna::os {

// Are there slots left for our thread-local variables? Asked when the library is loaded, where a refusal leaves the program as it was.
bool has_thread_slots();

}  // namespace hakozuna::os
