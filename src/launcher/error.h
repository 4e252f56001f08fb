// How a command gives up: one line for the user and the exit code that goes with it.
#pragma once

#include <stdexcept>
#include <string>

namespace hakozuna::launcher {

// The exit codes of the launcher itself; those above 124 are the ones env, nohup and timeout use,
// so that they are told apart from the codes of the program that is started.
inline constexpr int kExitNotServed = 1;      // doctor, list, compare: the answer is no
inline constexpr int kExitBadArguments = 2;   // the command line cannot be understood
inline constexpr int kExitCannotStart = 125;  // the launcher lacks something of its own
inline constexpr int kExitNotExecutable = 126;
inline constexpr int kExitNotFound = 127;

class LauncherError : public std::runtime_error {
 public:
  LauncherError(int exit_code, const std::string& message)
      : std::runtime_error(message), exit_code_(exit_code) {}
  int exit_code() const { return exit_code_; }

 private:
  int exit_code_;
};

}  // namespace hakozuna::launcher
