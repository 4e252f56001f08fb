// The slow paths of deallocation.
#pragma once

#include "hz3/spans.h"

namespace hakozuna::hz3 {

// Reports what put_block() found wrong with a block.
void report_put(Put what, const void* block, Classification found);


}  // namespace hakozuna::hz3
