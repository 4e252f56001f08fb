// Runs a program with a library loaded into it before its first instruction.
#pragma once

#include <string>
#include <vector>

namespace hakozuna::launcher {

// The file that a program name stands for: a path, or a name that is looked for where the system looks. Empty if there is none.
std::wstring find_program(const std::wstring& name);

// Starts arguments[0], which is the file `program`, with `library` in it, waits for its end and returns its exit code; or says why not, and returns
// the code for that. Environment, working directory, console and standard handles are the caller's. Programs that it starts in turn are not served.
int run_with_library(const std::wstring& program, const std::vector<std::wstring>& arguments, const std::wstring& library);

}  // namespace hakozuna::launcher
