// The only file compiled with exceptions: operator new(nothrow) returns null when the new-handler throws, so somebody has to catch.
//
// What the compiler needs for that is made weak in ELF: a program without a C++ runtime has no new-handler and never comes here.
#include "common/api/new_failure.h"

#if defined(__ELF__)
asm(".weak __gxx_personality_v0\n"
    ".weak __cxa_begin_catch\n"
    ".weak __cxa_end_catch\n"
    ".weak _Unwind_Resume\n"
    ".weak _ZSt9terminatev\n");
#endif

namespace hakozuna::api {

bool call_new_handler(std::new_handler handler) noexcept {
  try {
    handler();
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace hakozuna::api
