// The variables HAKOZUNA_... of the program's environment, read without libc's help: the loader
// calls malloc before libc has set `environ`, and a Windows process may have several C runtimes.
#pragma once

#include <cstddef>
#include <string_view>

namespace hakozuna::core {

struct Setting {
  std::string_view name;  // without the prefix
  std::string_view value;
};

// A reader of one environment, from its beginning to its end.
class Environment {
 public:
  // That of this process. It has no settings where the process runs with privileges that whoever
  // started it does not have (setuid): diagnostics and limits are not theirs to choose.
  static Environment of_program();

  // "NAME=value" strings, null at the end.
  explicit Environment(char* const* entries) : entries_(entries) {}
  // A file of such strings, each terminated: /proc/self/environ. A value of more than about 200
  // bytes is cut; no option has one of more than 64.
  explicit Environment(const char* path);
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  // The next setting, valid until the call after this one. False at the end.
  bool next(Setting& setting);

 private:
  bool next_entry(std::string_view& entry);
#if defined(_WIN32)
  bool read_block(std::string_view& entry);
#endif
  bool read_entry(std::string_view& entry);
  bool read_byte(char& byte);

  char* const* entries_ = nullptr;
#if defined(_WIN32)
  Environment();
  char* block_ = nullptr;  // a copy of the process's: terminated strings, an empty one at the end
  const char* block_position_ = nullptr;
#endif
  int file_ = -1;
  size_t chunk_bytes_ = 0;
  size_t chunk_position_ = 0;
  char chunk_[512];
  char entry_[256];
};

}  // namespace hakozuna::core
