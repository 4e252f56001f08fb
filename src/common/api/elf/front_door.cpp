// Names do it all; what is left are forks.
#include "common/api/front_door.h"

#include <pthread.h>

#include "common/api/api.h"
#include "common/api/background.h"
#include "common/core/diagnostics.h"

namespace hakozuna::api {
namespace {

void after_fork_in_child() {
  ServedLine::fork_child();
  start_background_thread();
}

}  // namespace

// Without the handlers a child could find a lock held by a thread that it does not have. Registered as early as a library can: handlers
// that are registered later run before ours in the parent and after ours in the child, and so may allocate.
void open_front_door() {
  const int failure = pthread_atfork(&ServedLine::fork_prepare, &ServedLine::fork_parent,
                                     &after_fork_in_child);
  if (failure != 0) core::warn("no memory for the fork handlers: a forked child must not allocate");
}

}  // namespace hakozuna::api
