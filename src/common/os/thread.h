// What we need to know of threads: when one ends, and whether one that gave no notice is gone.
#pragma once

#include <cstdint>

namespace hakozuna::os {

// Calls `handler(argument)` when the calling thread ends, after most of its own clean-up has run. `handler` is the same for all
// calls. Other thread-exit handlers may allocate and free afterwards; calling this again from such a late allocation may or may not lead to
// another call. False if the system has no room for the notice.
bool call_at_thread_exit(void (*handler)(void*), void* argument);

// Kernel identity of the calling thread; never 0.
uint32_t thread_id();

// False only if the thread has ended (its identity may since belong to another, in which case the answer is true).
bool thread_exists(uint32_t thread_id);

// Starts a thread of our own that calls `body`, which never returns, with all signals blocked. False if the system has none to give. The thread
// allocates like any other.
bool start_own_thread(void (*body)());

// Puts the calling thread to sleep.
void sleep_milliseconds(uint64_t milliseconds);

// Lets another thread run.
void yield();

}  // namespace hakozuna::os
