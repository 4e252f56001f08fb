#include "common/api/cxx_runtime.h"

#include <stdlib.h>

// Declared under names of our own: the headers of the compiler that builds us may be of another C++ library.
extern "C" {
std::new_handler linked_get_new_handler() noexcept asm("__ZSt15get_new_handlerv");
[[noreturn]] void linked_throw_bad_alloc() asm("__ZSt17__throw_bad_allocv");
}

namespace hakozuna::api {

std::new_handler current_new_handler() { return linked_get_new_handler(); }

void throw_bad_alloc() { linked_throw_bad_alloc(); }

}  // namespace hakozuna::api
