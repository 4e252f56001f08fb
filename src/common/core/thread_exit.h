// Whether the calling thread's exit handler has run: what it allocates afterwards gets no second notice of its end.
#pragma once

namespace hakozuna::core {

[[gnu::tls_model("initial-exec"), gnu::visibility("hidden")]] inline constinit thread_local bool exit_handler_has_run = false;

}  // namespace hakozuna::core
