// The thread of HAKOZUNA_BACKGROUND, which returns free memory while no thread of the program allocates.
#pragma once

namespace hakozuna::api {

// Starts it, if the option asks for it. Once in a process, and again in a forked child, which has only the thread that forked.
void start_background_thread();

}  // namespace hakozuna::api
