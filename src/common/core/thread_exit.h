// Whether the calling thread's exit handler has run: what it allocates afterwards gets no second notice of its end.
#pragma once

#include "common/os/thread_word.h"

namespace hakozuna::core {

HAKOZUNA_DECLARE_THREAD_WORD(bool, exit_handler_has_run, false);

}  // namespace hakozuna::core
