// How the command gives up: one line for the user and the exit code that goes with it.
//
// The codes are those of the launcher on other systems (launcher/error.h). No exceptions: this command is small enough to return.
#pragma once

#include <string>

namespace hakozuna::launcher {

inline constexpr int kExitBadArguments = 2;
inline constexpr int kExitCannotStart = 125;  // no library, or the program does not take it
inline constexpr int kExitNotExecutable = 126;
inline constexpr int kExitNotFound = 127;

// Writes `hakozuna: <message>` to standard error; returns the code.
int fail(int exit_code, const std::wstring& message);

}  // namespace hakozuna::launcher
