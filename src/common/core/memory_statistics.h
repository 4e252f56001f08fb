// The part of the statistics that comes from the memory layer and is the same for all lines.
#pragma once

#include "hakozuna/hakozuna.h"

namespace hakozuna::core {

// Adds large blocks, free runs, space that was never handed out, and the records of the memory layer. What is in used runs is the line's to add.
void add_memory_statistics(hakozuna_statistics& statistics);

}  // namespace hakozuna::core
