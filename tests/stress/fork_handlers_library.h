#pragma once

// Whether what the handlers allocated has been freed.
bool fork_handlers_are_idle();
