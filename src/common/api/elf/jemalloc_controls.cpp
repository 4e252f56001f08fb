// mallctl(), jemalloc's own interface, for programs that were built for jemalloc and run with us: what asks for memory to be given back is
// asked of us, who have it. redis does after FLUSHALL and for MEMORY PURGE.
//
// Everything else is about jemalloc itself and goes on to it if it is in the program (docs/decisions/0017).
#include <errno.h>
#include <string.h>

#include "common/api/api.h"
#include "common/os/underlying.h"

using hakozuna::api::ServedLine;

namespace {

// "arena.<number>.purge" and "arena.<number>.decay". Whichever arena is meant: we have none.
bool asks_for_purge(const char* name) {
  constexpr char kPrefix[] = "arena.";
  if (strncmp(name, kPrefix, sizeof kPrefix - 1) != 0) return false;
  name += sizeof kPrefix - 1;
  const size_t digits = strspn(name, "0123456789");
  return digits != 0 && (strcmp(name + digits, ".purge") == 0 || strcmp(name + digits, ".decay") == 0);
}

}  // namespace

// Returns an errno value, 0 for success: ENOENT for what nobody knows.
HAKOZUNA_EXPORT int mallctl(const char* name, void* old_value, size_t* old_bytes, void* new_value, size_t new_bytes) noexcept {
  const bool purge = name && asks_for_purge(name);
  if (purge) ServedLine::trim(0);
  void* const function = hakozuna::os::underlying_mallctl();
  if (!function) return purge ? 0 : ENOENT;
  return reinterpret_cast<decltype(&mallctl)>(function)(name, old_value, old_bytes, new_value, new_bytes);
}
