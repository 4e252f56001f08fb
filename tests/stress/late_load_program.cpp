// Loads the library of a line into a running program that was not started under it, and uses it
// from several threads.
//
// Its thread-local data must find room in what the loader keeps in reserve, or the load fails.
//
// usage: late_load_program LIBRARY
#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "hakozuna/hakozuna.h"
#include "support/pattern.h"

namespace {

using hakozuna::test::fill_pattern;
using hakozuna::test::has_pattern;

struct Late {
  void* (*malloc)(size_t);
  void* (*realloc)(void*, size_t);
  void (*free)(void*);
  decltype(&hakozuna_classify) classify;
};

template <class Function>
bool look_up(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

bool work(const Late& late) {
  for (size_t size = 1; size < 2'000'000; size += 1 + size / 5) {
    void* block = late.malloc(size);
    if (block == nullptr || late.classify(block) != HAKOZUNA_VALID) return false;
    fill_pattern(block, size, size);
    block = late.realloc(block, 2 * size);
    if (block == nullptr || !has_pattern(block, size, size)) return false;
    late.free(block);
  }
  // A block of the program's own malloc goes back to where it came from.
  late.free(std::malloc(100));
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s LIBRARY\n", argv[0]);
    return 2;
  }
  std::atomic<bool> loaded = false;
  std::atomic<int> failures = 0;
  Late late{};
  // Half of the threads are older than the library.
  std::vector<std::thread> threads;
  const auto body = [&] {
    while (!loaded) std::this_thread::yield();
    if (!work(late)) ++failures;
  };
  for (int i = 0; i < 4; ++i) threads.emplace_back(body);
  void* library = dlopen(argv[1], RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::_Exit(1);
  }
  if (!look_up(library, "malloc", late.malloc) || !look_up(library, "realloc", late.realloc) ||
      !look_up(library, "free", late.free) ||
      !look_up(library, "hakozuna_classify", late.classify)) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::_Exit(1);
  }
  loaded = true;
  for (int i = 0; i < 4; ++i) threads.emplace_back(body);
  for (std::thread& thread : threads) thread.join();
  dlclose(library);
  // Its blocks may be in use for longer than its handle.
  if (!work(late)) ++failures;
  if (failures != 0) std::fprintf(stderr, "%d threads failed\n", failures.load());
  return failures == 0 ? 0 : 1;
}
