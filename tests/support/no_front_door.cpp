// For programs that are made of a line's objects alone.
#include "common/core/first_heap.h"

void (*const hakozuna::core::first_heap_hook)() = nullptr;
