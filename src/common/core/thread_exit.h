// Whether the calling thread's exit handler has run: what it allocates afterwards gets no second notice of its end.
#pragma once

#include "common/os/thread_local.h"

namespace hakozuna::core {

inline constinit HAKOZUNA_THREAD_LOCAL os::ThreadLocal<bool, false, struct ExitHandlerName> exit_handler_has_run{false};

}  // namespace hakozuna::core
