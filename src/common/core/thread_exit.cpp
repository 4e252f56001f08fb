#include "common/core/thread_exit.h"

namespace hakozuna::core {

HAKOZUNA_DEFINE_THREAD_WORD(bool, exit_handler_has_run, false);

}  // namespace hakozuna::core
