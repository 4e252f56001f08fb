#include "launcher/program.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>

namespace hakozuna::launcher {

namespace fs = std::filesystem;

namespace {

constexpr int kMostScripts = 5;  // the kernel follows no more than that either

FoundFile examine_path(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return {};
  if (fs::is_directory(path, error) || ::access(path.c_str(), X_OK) != 0) {
    return {Found::kNotExecutable, path};
  }
  return {Found::kYes, path};
}

std::vector<std::string> split_words(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// What starts a file that is no binary: the words after #!, or the shell for text without them, as
// execvp and all shells do it.
std::optional<std::vector<std::string>> script_interpreter(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string start(256, '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<size_t>(file.gcount()));
  const std::string line = start.substr(0, start.find('\n'));
  if (line.starts_with("#!")) {
    std::vector<std::string> words = split_words(line.substr(2));
    if (!words.empty()) return words;
  }
  if (start.find('\0') != std::string::npos) return std::nullopt;
  return std::vector<std::string>{"/bin/sh"};
}

// The program `env` starts, given the words after it. Without -S the kernel passes all that follows
// as one argument.
std::string program_of_env(const std::vector<std::string>& words, bool& clears_environment) {
  bool skip_value = false;
  for (size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (skip_value) {
      skip_value = false;
    } else if (word == "-i" || word == "-" || word == "--ignore-environment") {
      clears_environment = true;
    } else if (word == "-u" || word == "-C") {
      skip_value = true;
    } else if (word.starts_with("-S") && word.size() > 2) {
      return word.substr(2);
    } else if (!word.starts_with("-") && word.find('=') == std::string::npos) {
      return word;
    }
  }
  return {};
}

}  // namespace

FoundFile find_program(const std::string& name) {
  if (name.empty()) return {};
  if (name.find('/') != std::string::npos) return examine_path(name);
  const char* variable = std::getenv("PATH");
  std::istringstream path(variable ? variable : "/bin:/usr/bin");
  FoundFile best;
  for (std::string directory; std::getline(path, directory, ':');) {
    const FoundFile here = examine_path(fs::path(directory.empty() ? "." : directory) / name);
    if (here.found == Found::kYes) return here;
    // A directory of that name is passed over, a file without permission is remembered.
    if (here.found == Found::kNotExecutable && !fs::is_directory(here.path)) best = here;
  }
  return best;
}

ResolvedProgram resolve_program(const std::string& name) {
  ResolvedProgram program;
  program.name = name;
  for (;;) {
    program.file = find_program(program.name);
    if (program.file.found != Found::kYes) return program;

    char magic[4] = {};
    std::ifstream file(program.file.path, std::ios::binary);
    if (!file.is_open()) return program;  // may be run but not read: nothing more can be found out
    file.read(magic, sizeof magic);
    if (std::string_view(magic, sizeof magic) == "\177ELF") return program;

    const auto words = script_interpreter(program.file.path);
    if (!words) return program;
    if (program.scripts.size() == kMostScripts) {
      program.too_deep = true;
      return program;
    }
    std::string interpreter = words->front();
    if (fs::path(interpreter).filename() == "env") {
      const std::string started = program_of_env(*words, program.clears_environment);
      if (!started.empty()) interpreter = started;
    }
    program.scripts.push_back({program.file.path, interpreter});
    program.name = interpreter;
  }
}

}  // namespace hakozuna::launcher
