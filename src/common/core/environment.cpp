#include "common/core/environment.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "common/core/option_table.h"
#include "common/os/process.h"

#if !defined(O_CLOEXEC)
#define O_CLOEXEC 0  // Windows, where there is no such file to open
#endif

namespace hakozuna::core {
namespace {

constexpr char* kNoEntries[] = {nullptr};

bool starts_with(std::string_view text, std::string_view start) {
  return text.size() >= start.size() && std::string_view(text.data(), start.size()) == start;
}

}  // namespace

Environment Environment::of_program() {
  if (os::has_borrowed_privileges()) return Environment(kNoEntries);
  if (char** const entries = os::environment()) return Environment(entries);
  const char* const file = os::environment_file();
  return file ? Environment(file) : Environment(kNoEntries);
}

Environment::Environment(const char* path) : file_(open(path, O_RDONLY | O_CLOEXEC)) {}

Environment::~Environment() {
  if (file_ >= 0) close(file_);
}

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
