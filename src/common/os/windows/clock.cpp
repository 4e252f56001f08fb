#include "common/os/clock.h"

#include <windows.h>

namespace hakozuna::os {

uint64_t coarse_milliseconds() { return GetTickCount64() + 1; }  // read from a page that the system shares with every process

}  // namespace hakozuna::os
