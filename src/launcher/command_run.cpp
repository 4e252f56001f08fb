#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <memory>

#include "launcher/commands.h"
#include "launcher/environment.h"
#include "launcher/error.h"
#include "launcher/lines.h"
#include "launcher/program.h"

namespace hakozuna::launcher {

namespace {

constexpr const char* kOptionPrefix = "HAKOZUNA_";

struct RunOptions {
  std::string line = kDefaultLine;
  std::string stats;
  std::string on_error;
  std::vector<std::string> options;  // NAME=VALUE
};

void set_option(Environment& environment, const std::string& option) {
  const size_t equals = option.find('=');
  std::string name = option.substr(0, equals);
  if (name.starts_with(kOptionPrefix)) name.erase(0, strlen(kOptionPrefix));
  const bool valid =
      equals != std::string::npos && !name.empty() &&
      std::all_of(name.begin(), name.end(), [](unsigned char character) {
        return std::isupper(character) || std::isdigit(character) || character == '_';
      });
  if (!valid) {
    throw LauncherError(kExitBadArguments, "run: --option '" + option +
                                               "' is not of the form NAME=VALUE, as in "
                                               "PURGE_DELAY_MS=100");
  }
  environment.set(kOptionPrefix + name, option.substr(equals + 1));
}

Environment served_environment(const RunOptions& options) {
  const InstalledLine line = find_line(options.line);
  if (const auto obstacle = preload_obstacle(line.path)) {
    throw LauncherError(kExitCannotStart, *obstacle);
  }
  Environment environment = Environment::of_this_process();
  environment.preload(line.path);
  for (const std::string& option : options.options) set_option(environment, option);
  if (!options.stats.empty()) environment.set("HAKOZUNA_STATS", options.stats);
  if (!options.on_error.empty()) environment.set("HAKOZUNA_ON_ERROR", options.on_error);
  return environment;
}

LauncherError start_failure(const std::string& name, int error) {
  const FoundFile file = find_program(name);
  // For a name searched in PATH the error may be that of a directory there which may not be
  // searched, which shells pass over.
  const bool searched = name.find('/') == std::string::npos;
  if (file.found == Found::kMissing && (error == ENOENT || searched)) {
    return {kExitNotFound, name + ": not found"};
  }
  if (error == ENOENT) return {kExitNotFound, name + ": its interpreter or loader is not found"};
  return {kExitNotExecutable, name + ": cannot be executed: " + ::strerror(error)};
}

// Becomes the program; comes back only by an exception.
int run(const RunOptions& options, std::vector<std::string> program) {
  Environment environment = served_environment(options);
  ::execvpe(program.front().c_str(), argument_pointers(program).data(),
            environment.pointers().data());
  throw start_failure(program.front(), errno);
}

}  // namespace

void add_run_command(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand(
      "run",
      "Run a program on one of the allocators.\n\n"
      "The program is not changed: the allocator's library is put first in LD_PRELOAD and the\n"
      "program takes the launcher's place. Its exit code, its signals and its input and output\n"
      "are its own. The programs it starts are served too.");
  command
      ->add_option("--line", options->line,
                   "The allocator to use (see hakozuna list); hz8 if not given")
      ->option_text("NAME");
  command
      ->add_flag("--stats{text}", options->stats,
                 "Print the allocator's statistics when the program exits, as a table\n"
                 "(--stats or --stats=text) or as JSON (--stats=json)")
      ->check(CLI::IsMember({"text", "json"}))
      ->option_text("[=text|json]");
  command
      ->add_option("--on-error", options->on_error,
                   "What a bad free does: abort with one line that says what was wrong (the\n"
                   "default), report it and go on, or ignore it")
      ->check(CLI::IsMember({"abort", "report", "ignore"}))
      ->option_text("abort|report|ignore");
  command
      ->add_option("--option", options->options,
                   "Any other option of the allocator; may be given several times.\n"
                   "--option PURGE_DELAY_MS=100 is the same as HAKOZUNA_PURGE_DELAY_MS=100\n"
                   "in the environment. HAKOZUNA_HELP=1 lists them.")
      ->allow_extra_args(false)
      ->option_text("NAME=VALUE");
  command->footer(
      "Exit codes: the program's own; 127 if it is not found, 126 if it cannot be executed,\n"
      "125 if no library is found, 2 for bad arguments.\n\n"
      "Examples:\n"
      "  hakozuna run -- ./server --port 8080\n"
      "  hakozuna run --stats -- python3 script.py\n"
      "  hakozuna run --on-error report --option PURGE_DELAY_MS=100 -- ./server");
  command->callback([options, &invocation] {
    invocation.action = [options, &invocation] {
      return run(*options, required_program(invocation, "run"));
    };
  });
}

}  // namespace hakozuna::launcher
