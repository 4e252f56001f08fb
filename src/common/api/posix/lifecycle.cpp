// What happens when the library is loaded and when the process exits. Nothing here must have happened before malloc works.
#include "common/api/background.h"
#include "common/api/exit_report.h"
#include "common/api/front_door.h"
#include "common/core/options.h"

namespace hakozuna::api {
namespace {

[[gnu::constructor]] void start() {
  core::initialise_options();
  open_front_door();
  prepare_exit_report();
  start_background_thread();
}

// Runs after the program's own exit handlers, and after the destructors of the libraries loaded behind us.
[[gnu::destructor]] void finish() { print_exit_report(); }

}  // namespace
}  // namespace hakozuna::api
