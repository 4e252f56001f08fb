// What macOS has beside the C library's functions to ask for sizes.
#include <malloc/malloc.h>

#include "common/api/api.h"
#include "common/os/underlying.h"

using hakozuna::api::ServedLine;

HAKOZUNA_REPLACE size_t malloc_size(const void* block) noexcept {
  const size_t bytes = ServedLine::usable_size(block);
  if (bytes != 0 || !block) [[likely]] return bytes;
  const bool foreign = ServedLine::classify(block).verdict == hakozuna::Verdict::kMiss;
  return foreign ? hakozuna::os::underlying_usable_size(block) : 0;
}

// Of what cannot be had, the size itself: the answer is never below the question.
HAKOZUNA_REPLACE size_t malloc_good_size(size_t size) noexcept {
  const size_t good = ServedLine::good_size(size);
  return good < size ? size : good;
}
