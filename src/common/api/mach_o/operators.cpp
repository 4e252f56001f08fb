// operator new and delete under the names that interpose.cpp puts in place of the C++ runtime's. size_t, align_val_t and the reference to nothrow are
// passed like any word, and words behind those a function reads do no harm: six functions serve all twenty.
#include "common/api/operators.h"

namespace api = hakozuna::api;

HAKOZUNA_REPLACE void* replaced_new(size_t size) { return api::new_plain(size); }
HAKOZUNA_REPLACE void* replaced_new_nothrow(size_t size) noexcept { return api::new_nothrow(size); }
HAKOZUNA_REPLACE void* replaced_new_aligned(size_t size, size_t alignment) { return api::new_aligned(size, alignment); }
HAKOZUNA_REPLACE void* replaced_new_aligned_nothrow(size_t size, size_t alignment) noexcept {
  return api::new_aligned_nothrow(size, alignment);
}
HAKOZUNA_REPLACE void replaced_delete(void* block) noexcept { api::delete_plain(block); }
HAKOZUNA_REPLACE void replaced_delete_sized(void* block, size_t size) noexcept { api::delete_sized(block, size); }
