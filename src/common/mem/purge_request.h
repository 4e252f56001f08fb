// How this layer says that there will be something to purge later. Who listens makes sure that the purge functions get called then.
#pragma once

#include <atomic>

namespace hakozuna::mem {

// Set once by the line (release), before anything is freed; acquire by its readers.
inline constinit std::atomic<void (*)()> purge_listener{nullptr};

// Not to be called with a lock held: the listener takes the heap registry's.
inline void request_purge() {
  if (void (*const listener)() = purge_listener.load(std::memory_order_acquire)) listener();
}

}  // namespace hakozuna::mem
