#include "common/os/underlying.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <atomic>

// Weak: a fully static program has no dlsym, and is not to get the loader on our account.
extern "C" [[gnu::weak]] void* dlsym(void* handle, const char* name) noexcept;

namespace hakozuna::os {
namespace {

std::atomic<uint64_t> foreign_frees{0};  // relaxed: statistics

// dlsym() may allocate and free itself. What it frees may be foreign too (a message left from before we were loaded), which would
// look the functions up again and never end.
constinit thread_local bool looking_up = false;

// One function of the allocator underneath. Constant-initialised: it is used before constructors run. Threads that look it up at the
// same time find the same address, so no lock is needed, nor could one be held around dlsym(), which takes the loader's.
class Underlying {
 public:
  constexpr explicit Underlying(const char* name) : name_(name) {}

  // Null if there is none, or if the calling thread is in the middle of finding out.
  void* find() {
    void* function = function_.load(std::memory_order_relaxed);  // code does not change: nothing to order
    if (function || looking_up || !dlsym) return function;
    looking_up = true;
    function = dlsym(RTLD_NEXT, name_);
    looking_up = false;
    function_.store(function, std::memory_order_relaxed);
    return function;
  }

 private:
  const char* const name_;
  std::atomic<void*> function_{nullptr};
};

constinit Underlying next_free{"free"};
constinit Underlying next_realloc{"realloc"};
constinit Underlying next_usable_size{"malloc_usable_size"};
constinit Underlying next_mallctl{"mallctl"};

[[noreturn]] void fail_without_underlying(const char* operation, const void* block) {
  char line[160] = "hakozuna: ";
  char* end = line + strlen(line);
  const auto append = [&end](const char* text) {
    const size_t length = strlen(text);
    memcpy(end, text, length);
    end += length;
  };
  append(operation);
  append(" of 0x");
  const uintptr_t address = reinterpret_cast<uintptr_t>(block);
  for (int shift = 60; shift >= 0; shift -= 4) *end++ = "0123456789abcdef"[(address >> shift) & 15];
  append(", which is not our memory, and there is no other allocator in this program\n");
  // Nothing can be done about a failed write: the process ends here anyway.
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line, static_cast<size_t>(end - line));
  abort();
}

}  // namespace

void underlying_free(void* block) {
  const int saved_errno = errno;
  foreign_frees.fetch_add(1, std::memory_order_relaxed);
  void* const function = next_free.find();
  if (function) {
    reinterpret_cast<void (*)(void*)>(function)(block);
  } else if (!looking_up) {  // inside the look-up the block is left alone
    fail_without_underlying("free", block);
  }
  errno = saved_errno;
}

void* underlying_realloc(void* block, size_t size) {
  const int saved_errno = errno;
  void* const function = next_realloc.find();
  if (!function) {
    if (!looking_up) fail_without_underlying("realloc", block);
    errno = ENOMEM;
    return nullptr;
  }
  errno = saved_errno;
  return reinterpret_cast<void* (*)(void*, size_t)>(function)(block, size);
}

size_t underlying_usable_size(const void* block) {
  const int saved_errno = errno;
  void* const function = next_usable_size.find();
  const size_t bytes =
      function ? reinterpret_cast<size_t (*)(const void*)>(function)(block) : 0;
  errno = saved_errno;
  return bytes;
}

void* underlying_mallctl() {
  const int saved_errno = errno;
  void* const function = next_mallctl.find();
  errno = saved_errno;
  return function;
}

uint64_t foreign_free_count() { return foreign_frees.load(std::memory_order_relaxed); }

}  // namespace hakozuna::os
