// Names do it all; what is left are forks.
#include "common/api/front_door.h"

#include <pthread.h>

#include <atomic>

#include "common/api/api.h"
#include "common/api/background.h"
#include "common/core/diagnostics.h"
#include "common/core/first_heap.h"

namespace hakozuna::api {
namespace {

void after_fork_in_child() {
  ServedLine::fork_child();
  start_background_thread();
}

}  // namespace

// Without the handlers a child could find a lock held by a thread that it does not have. Handlers that are registered later run before ours in the
// parent and after ours in the child, and so may allocate. That is why the first allocation registers them: the constructor of a library that is
// preloaded runs after those of the program's libraries.
void open_front_door() {
  static constinit std::atomic<bool> is_open{false};  // relaxed: it only chooses one caller
  if (is_open.load(std::memory_order_relaxed) || is_open.exchange(true, std::memory_order_relaxed)) return;
  const int failure = pthread_atfork(&ServedLine::fork_prepare, &ServedLine::fork_parent,
                                     &after_fork_in_child);
  if (failure != 0) core::warn("no memory for the fork handlers: a forked child must not allocate");
}

}  // namespace hakozuna::api

void (*const hakozuna::core::first_heap_hook)() = &hakozuna::api::open_front_door;
