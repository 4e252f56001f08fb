// What happens when the library is loaded, when the process forks and when it exits. Nothing here must have happened before malloc works.
#include <pthread.h>

#include "common/api/api.h"
#include "common/api/background.h"
#include "common/api/exit_report.h"
#include "common/core/diagnostics.h"
#include "common/core/options.h"

namespace hakozuna::api {
namespace {

void after_fork_in_child() {
  ServedLine::fork_child();
  start_background_thread();
}

// Without the handlers a child could find a lock held by a thread that it does not have. Registered as early as a library can: handlers
// that are registered later run before ours in the parent and after ours in the child, and so may allocate.
void register_fork_handlers() {
  const int failure = pthread_atfork(&ServedLine::fork_prepare, &ServedLine::fork_parent,
                                     &after_fork_in_child);
  if (failure != 0) core::warn("no memory for the fork handlers: a forked child must not allocate");
}

[[gnu::constructor]] void start() {
  core::initialise_options();
  register_fork_handlers();
  prepare_exit_report();
  start_background_thread();
}

// Runs after the program's own exit handlers, and after the destructors of the libraries loaded behind us.
[[gnu::destructor]] void finish() { print_exit_report(); }

}  // namespace
}  // namespace hakozuna::api
