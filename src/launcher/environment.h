// The environment a program is started with.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace hakozuna::launcher {

class Environment {
 public:
  // A copy of this process's environment, in its order.
  static Environment of_this_process();

  std::optional<std::string> get(const std::string& name) const;
  void set(const std::string& name, const std::string& value);
  void unset(const std::string& name);

  // Puts `library` first in LD_PRELOAD. What was there stays behind it, but for other lines of this
  // project: two of them in one process would be two allocators, where the caller asked for one.
  void preload(const std::filesystem::path& library);

  // Takes the lines of this project out of LD_PRELOAD.
  void remove_preloaded_lines();

  // For execve: valid while this object lives and is not changed.
  std::vector<char*> pointers();

 private:
  std::vector<std::string>::iterator find(const std::string& name);
  std::vector<std::string> entries_;  // "NAME=value"
};

// A vector of words as execve wants it; valid while `words` lives and is not changed.
std::vector<char*> argument_pointers(std::vector<std::string>& words);

}  // namespace hakozuna::launcher
