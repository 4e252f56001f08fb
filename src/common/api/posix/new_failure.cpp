#include "common/api/new_failure.h"

#include "common/api/api.h"
#include "common/api/cxx_runtime.h"
#include "common/base/bits.h"

namespace hakozuna::api {
namespace {

std::new_handler handler_for(size_t alignment) {
  return is_power_of_two(alignment) ? current_new_handler() : nullptr;
}

}  // namespace

void* new_after_failure(size_t size, size_t alignment) {
  for (;;) {
    const std::new_handler handler = handler_for(alignment);
    if (!handler) throw_bad_alloc();
    handler();  // frees something, throws or does not return
    if (void* const block = ServedLine::allocate_aligned(alignment, size)) return block;
  }
}

void* new_after_failure_nothrow(size_t size, size_t alignment) noexcept {
  for (;;) {
    const std::new_handler handler = handler_for(alignment);
    if (!handler || !call_new_handler(handler)) return nullptr;
    if (void* const block = ServedLine::allocate_aligned(alignment, size)) return block;
  }
}

}  // namespace hakozuna::api
