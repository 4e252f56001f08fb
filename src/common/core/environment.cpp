#include "common/core/environment.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#if defined(_WIN32)
#include <windows.h>
#else
#include <sys/auxv.h>
#endif

#include "common/core/option_table.h"

#if !defined(_WIN32)
extern "C" char** environ;
#endif

namespace hakozuna::core {
namespace {

#if defined(_WIN32)
constexpr int kOpenFlags = O_RDONLY | O_BINARY;
#else
constexpr int kOpenFlags = O_RDONLY | O_CLOEXEC;
constexpr char* kNoEntries[] = {nullptr};
#endif

bool starts_with(std::string_view text, std::string_view start) {
  return text.size() >= start.size() && std::string_view(text.data(), start.size()) == start;
}

}  // namespace

#if defined(_WIN32)

// Started with fewer rights than its own by nobody: a process with more rights gets its environment from the system.
Environment Environment::of_program() { return Environment(); }

// The copy is made on the system's heap.
Environment::Environment() : block_(GetEnvironmentStringsA()), block_position_(block_) {}

Environment::~Environment() {
  if (file_ >= 0) close(file_);
  if (block_) FreeEnvironmentStringsA(block_);
}

bool Environment::read_block(std::string_view& entry) {
  if (*block_position_ == '\0') return false;
  entry = block_position_;
  block_position_ += entry.size() + 1;
  return true;
}

#else

Environment Environment::of_program() {
  if (getauxval(AT_SECURE) != 0) return Environment(kNoEntries);
  if (environ) return Environment(environ);
  return Environment("/proc/self/environ");
}

Environment::~Environment() {
  if (file_ >= 0) close(file_);
}

#endif

Environment::Environment(const char* path) : file_(open(path, kOpenFlags)) {}

bool Environment::next(Setting& setting) {
  std::string_view entry;
  while (next_entry(entry)) {
    if (!starts_with(entry, kOptionPrefix)) continue;
    const size_t equals = entry.find('=');
    if (equals == entry.npos) continue;  // not a variable
    const char* const name = entry.data() + kOptionPrefix.size();
    const char* const value = entry.data() + equals + 1;
    setting.name = {name, equals - kOptionPrefix.size()};
    setting.value = {value, entry.size() - equals - 1};
    return true;
  }
  return false;
}

bool Environment::next_entry(std::string_view& entry) {
#if defined(_WIN32)
  if (block_) return read_block(entry);
#endif
  if (!entries_) return read_entry(entry);
  if (!*entries_) return false;
  entry = *entries_++;
  return true;
}

bool Environment::read_entry(std::string_view& entry) {
  size_t length = 0;
  bool any = false;
  char byte;
  while (read_byte(byte)) {
    any = true;
    if (byte == '\0') break;
    if (length < sizeof entry_) entry_[length++] = byte;
  }
  entry = {entry_, length};
  return any;
}

bool Environment::read_byte(char& byte) {
  if (chunk_position_ == chunk_bytes_) {
    ssize_t got;
    do {
      got = file_ < 0 ? 0 : read(file_, chunk_, sizeof chunk_);
    } while (got < 0 && errno == EINTR);
    if (got <= 0) return false;
    chunk_bytes_ = static_cast<size_t>(got);
    chunk_position_ = 0;
  }
  byte = chunk_[chunk_position_++];
  return true;
}

}  // namespace hakozuna::core
