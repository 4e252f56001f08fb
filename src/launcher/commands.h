// The subcommands. Each describes its arguments to the parser and says what to do once they are
// read.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace hakozuna::launcher {

struct Invocation {
  std::vector<std::string> program;  // the words after "--", untouched
  std::function<int()> action;       // set by the subcommand that was named; gives the exit code
};

void add_run_command(CLI::App& app, Invocation& invocation);
void add_doctor_command(CLI::App& app, Invocation& invocation);
void add_list_command(CLI::App& app, Invocation& invocation);
void add_compare_command(CLI::App& app, Invocation& invocation);

// Not for people: prints the version of the line that serves the launcher itself. `list` starts it
// under each line.
void add_identify_command(CLI::App& app, Invocation& invocation);

// The words after "--"; throws LauncherError, with the usage of `command`, if there are none.
const std::vector<std::string>& required_program(const Invocation& invocation, const char* command);

}  // namespace hakozuna::launcher
