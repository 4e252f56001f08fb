#include "common/api/new_failure.h"

#include "common/api/api.h"
#include "common/api/cxx_runtime.h"

namespace hakozuna::api {
namespace {

void* try_again(size_t size, size_t alignment) {
  return alignment != 0 ? ServedLine::allocate_aligned(alignment, size) : ServedLine::allocate(size);
}

}  // namespace

void* new_after_failure(size_t size, size_t alignment) {
  for (;;) {
    const std::new_handler handler = current_new_handler();
    if (!handler) throw_bad_alloc();
    handler();  // frees something, throws or does not return
    if (void* const block = try_again(size, alignment)) return block;
  }
}

void* new_after_failure_nothrow(size_t size, size_t alignment) noexcept {
  for (;;) {
    const std::new_handler handler = current_new_handler();
    if (!handler || !call_new_handler(handler)) return nullptr;
    if (void* const block = try_again(size, alignment)) return block;
  }
}

}  // namespace hakozuna::api
