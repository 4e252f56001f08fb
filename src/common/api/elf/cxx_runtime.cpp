#include "common/api/cxx_runtime.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "common/core/diagnostics.h"

// The names are the same in libstdc++ and libc++. Declared under names of our own, because std's declarations are not weak.
extern "C" {
[[gnu::weak]] std::new_handler linked_get_new_handler() noexcept asm("_ZSt15get_new_handlerv");
[[noreturn, gnu::weak]] void linked_throw_bad_alloc() asm("_ZSt17__throw_bad_allocv");
[[gnu::weak]] void* dlsym(void* handle, const char* name) noexcept;
}

namespace hakozuna::api {
namespace {

// Weak references are bound when we are loaded. A C program that loads a C++ library later (an interpreter and its modules) has its
// runtime only since then, and possibly in no scope that we can see: ask for it by name, without loading it. The reference that a handle is stays:
// the function is about to be called.
void* find_in_late_runtime(const char* name) {
  if (!dlsym) return nullptr;  // fully static
  // Found rather than linked: a linker warns of dlopen in a fully static program.
  const auto open = reinterpret_cast<decltype(&dlopen)>(dlsym(RTLD_DEFAULT, "dlopen"));
  if (!open) return nullptr;
  static constexpr const char* kLibraries[] = {"libstdc++.so.6", "libc++.so.1"};
  for (const char* const library : kLibraries) {
    if (void* const handle = open(library, RTLD_LAZY | RTLD_NOLOAD)) {
      if (void* const function = dlsym(handle, name)) return function;
    }
  }
  return nullptr;
}

}  // namespace

std::new_handler current_new_handler() {
  if (linked_get_new_handler) return linked_get_new_handler();
  void* const late = find_in_late_runtime("_ZSt15get_new_handlerv");
  return late ? reinterpret_cast<std::new_handler (*)()>(late)() : nullptr;
}

void throw_bad_alloc() {
  if (linked_throw_bad_alloc) linked_throw_bad_alloc();
  if (void* const late = find_in_late_runtime("_ZSt17__throw_bad_allocv")) {
    reinterpret_cast<void (*)()>(late)();
  }
  core::warn("operator new: out of memory, and no C++ runtime to throw std::bad_alloc");
  abort();
}

}  // namespace hakozuna::api
