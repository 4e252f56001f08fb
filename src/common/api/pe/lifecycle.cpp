// What happens when the library is loaded and when the process ends.
//
// The library has no C runtime's start code of its own, because that allocates: the entry point below is all there is. It runs under the
// loader's lock and waits for no other thread.
#include <windows.h>

#include "common/api/api.h"
#include "common/api/background.h"
#include "common/api/exit_report.h"
#include "common/api/pe/redirection.h"
#include "common/core/diagnostics.h"
#include "common/core/first_heap.h"
#include "common/core/options.h"
#include "common/os/windows/thread_slots.h"

// The linker's list of constructors: a count that nobody fills in, the functions, null. It is sorted so that the last is the first to run.
extern "C" void (*__CTOR_LIST__[])();

namespace hakozuna::api {
namespace {

void run_constructors() {
  size_t count = 0;
  while (__CTOR_LIST__[count + 1]) ++count;
  for (; count != 0; --count) __CTOR_LIST__[count]();
}

// Our code is in import tables everywhere from now on.
void stay_for_ever(HMODULE self) {
  HMODULE pinned;
  GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_PIN | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS, reinterpret_cast<LPCWSTR>(self), &pinned);
}

bool start(HMODULE self) {
  run_constructors();
  if (!os::has_thread_slots()) {
    core::warn("this process has no thread-local slots left for us");
    return false;
  }
  core::initialise_options();
  stay_for_ever(self);
  if (!redirect_runtimes()) {
    core::warn("the loader does not tell of modules: the C runtime keeps its allocator");
    return false;
  }
  prepare_exit_report();
  start_background_thread();  // it begins when the loader is done with us
  return true;
}

}  // namespace
}  // namespace hakozuna::api

void (*const hakozuna::core::first_heap_hook)() = nullptr;  // there are no forks here

extern "C" BOOL WINAPI hakozuna_entry(HINSTANCE self, DWORD reason, LPVOID) {
  switch (reason) {
    case DLL_PROCESS_ATTACH:
      return hakozuna::api::start(self);
    case DLL_PROCESS_DETACH:  // the process ends: we are never unloaded before
      hakozuna::api::print_exit_report();
      break;
    default:
      break;
  }
  return TRUE;
}
