// The slow paths of deallocation.
#pragma once

#include "hz8/layout.h"

namespace hakozuna::hz8 {

// What stands at an address, for classify and for messages.
struct Position {
  Span* span = nullptr;            // the span the address lies in, if any
  mem::LargeBlock* large = nullptr;  // else the large block, if any
  uint64_t slot = 0;               // valid if exact
  bool exact = false;              // the first byte of a slot
};
Position locate(const void* address);

}  // namespace hakozuna::hz8
