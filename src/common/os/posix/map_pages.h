// What posix/memory.cpp needs of the system's memory.cpp.
#pragma once

#include <cstddef>

namespace hakozuna::os {

// Private pages without a charge in advance, where the kernel has room. Null if it refuses; errno is not kept.
void* map_pages(size_t bytes, int protection);

}  // namespace hakozuna::os
