#include "common/os/clock.h"

#include <time.h>

namespace hakozuna::os {

// Read from a page that the kernel keeps up to date: no system call. It goes on while the machine sleeps, so that what was free before is old
// afterwards.
uint64_t coarse_milliseconds() { return clock_gettime_nsec_np(CLOCK_MONOTONIC_RAW_APPROX) / 1000000 + 1; }

}  // namespace hakozuna::os
