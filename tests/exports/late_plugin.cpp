// A C++ library that a C program loads late and for itself alone: its runtime is in no scope that the preloaded line can see.
#include <cstdint>
#include <new>

extern "C" __attribute__((visibility("default"))) int plugin_catches_bad_alloc() {
  volatile std::size_t impossible = PTRDIFF_MAX;
  try {
    ::operator delete(::operator new(impossible));
  } catch (const std::bad_alloc&) {
    return 1;
  }
  return 0;
}

namespace {
int handler_calls = 0;
void give_up() {
  ++handler_calls;
  std::set_new_handler(nullptr);
}
}  // namespace

extern "C" __attribute__((visibility("default"))) int plugin_counts_handler_calls() {
  std::set_new_handler(give_up);
  plugin_catches_bad_alloc();
  return handler_calls;
}
