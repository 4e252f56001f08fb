#include "common/os/clock.h"

#include <time.h>

namespace hakozuna::os {

uint64_t coarse_milliseconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);  // answered by the vDSO: no system call, errno untouched
  return static_cast<uint64_t>(now.tv_sec) * 1000 + static_cast<uint64_t>(now.tv_nsec) / 1000000 + 1;
}

}  // namespace hakozuna::os
