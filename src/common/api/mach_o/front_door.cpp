// The pairs of interpose.cpp work by themselves; what is left is the zone, whose lock functions are also how we hear of forks.
#include "common/api/front_door.h"

#include <pthread.h>

#include "common/api/background.h"
#include "common/api/mach_o/zone.h"
#include "common/core/diagnostics.h"
#include "common/core/first_heap.h"

namespace hakozuna::api {

void open_front_door() {
  register_zone();
  // The zone's functions run where the child is not ready for another thread.
  if (pthread_atfork(nullptr, nullptr, &start_background_thread) != 0) {
    core::warn("no memory for the fork handler: a forked child has no thread of HAKOZUNA_BACKGROUND");
  }
}

}  // namespace hakozuna::api

void (*const hakozuna::core::first_heap_hook)() = nullptr;  // the zone hears of forks
