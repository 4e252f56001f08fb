// Which file a command line really runs: found on PATH, and through the #! lines of scripts down to
// a binary.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace hakozuna::launcher {

enum class Found { kYes, kMissing, kNotExecutable };

struct FoundFile {
  Found found = Found::kMissing;
  std::filesystem::path path;  // set unless missing
};

// As a shell looks a command up: a name with a slash is a path, any other is searched in PATH.
FoundFile find_program(const std::string& name);

struct ScriptStep {
  std::filesystem::path script;
  std::string interpreter;  // as the script names it
};

struct ResolvedProgram {
  std::vector<ScriptStep> scripts;  // the scripts on the way, outermost first
  std::string name;                 // the last name looked up
  FoundFile file;                   // and the file it is: a binary, unless something is wrong
  bool clears_environment = false;  // by `env -i`: no preload survives that
  bool too_deep = false;            // scripts interpreted by scripts without end
};

ResolvedProgram resolve_program(const std::string& name);

}  // namespace hakozuna::launcher
