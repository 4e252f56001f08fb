// What macOS has beside the C library's functions to ask for sizes.
#include <malloc/malloc.h>

#include "common/api/any_usable_size.h"
#include "common/api/api.h"

using hakozuna::api::ServedLine;

HAKOZUNA_REPLACE size_t malloc_size(const void* block) noexcept {
  return hakozuna::api::any_usable_size(block);
}

// Of what cannot be had, the size itself: the answer is never below the question.
HAKOZUNA_REPLACE size_t malloc_good_size(size_t size) noexcept {
  const size_t good = ServedLine::good_size(size);
  return good < size ? size : good;
}
