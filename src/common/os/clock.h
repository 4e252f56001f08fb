// Time for ageing free memory.
#pragma once

#include <cstdint>

namespace hakozuna::os {

// Milliseconds of a monotonic clock with the resolution of the scheduler tick (1..10 ms): the cheapest clock there is. Starts above 0.
uint64_t coarse_milliseconds();

}  // namespace hakozuna::os
