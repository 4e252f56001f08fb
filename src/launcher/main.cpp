// hakozuna: run programs on the allocators of this project, check that they can be, and compare.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>

#include "hakozuna/hakozuna.h"
#include "launcher/commands.h"
#include "launcher/error.h"
#include "launcher/help_formatter.h"

namespace hakozuna::launcher {

const std::vector<std::string>& required_program(const Invocation& invocation,
                                                 const char* command) {
  if (invocation.program.empty()) {
    throw LauncherError(kExitBadArguments, std::string(command) +
                                               ": no program given; write -- before it, as in: "
                                               "hakozuna " +
                                               command + " -- ./program argument");
  }
  return invocation.program;
}

namespace {

std::string version_text() {
  return "hakozuna " + std::to_string(HAKOZUNA_VERSION_MAJOR) + "." +
         std::to_string(HAKOZUNA_VERSION_MINOR) + "." + std::to_string(HAKOZUNA_VERSION_PATCH);
}

// One line, whatever the parser's message looks like.
std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

int fail(const std::string& message, int exit_code) {
  std::fprintf(stderr, "hakozuna: %s\n", one_line(message).c_str());
  return exit_code;
}

// What lies behind the first "--" is the program's and never seen by the parser: options, empty
// words and further "--" included.
int launch(const std::vector<std::string>& words) {
  Invocation invocation;
  const auto separator = std::find(words.begin(), words.end(), "--");
  if (separator != words.end()) invocation.program.assign(separator + 1, words.end());

  CLI::App app(
      "Run programs on a drop-in malloc replacement, without rebuilding them.\n\n"
      "  hakozuna doctor -- ./server     can it be served? (proves it)\n"
      "  hakozuna run -- ./server        run it\n"
      "  hakozuna compare -- ./job       which allocator suits it?",
      "hakozuna");
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_version_flag("--version", version_text(), "Print the version and exit");
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.require_subcommand(1);
  app.footer("hakozuna COMMAND --help says more about one command.");
  add_run_command(app, invocation);
  add_doctor_command(app, invocation);
  add_compare_command(app, invocation);
  add_list_command(app, invocation);
  add_identify_command(app, invocation);

  try {
    // The parser takes its words last first.
    app.parse(std::vector<std::string>(std::make_reverse_iterator(separator), words.rend()));
  } catch (const CLI::Success& wish) {
    return app.exit(wish);  // --help or --version
  } catch (const CLI::ParseError& error) {
    const auto named = app.get_subcommands();
    const std::string command = named.empty() ? "" : named.front()->get_name();
    if (named.empty() && separator != words.begin() && !words.front().starts_with('-')) {
      return fail("there is no command '" + words.front() + "' (see hakozuna --help)",
                  kExitBadArguments);
    }
    return fail((command.empty() ? "" : command + ": ") + error.what() + " (see hakozuna " +
                    (command.empty() ? "" : command + " ") + "--help)",
                kExitBadArguments);
  }
  return invocation.action();
}

}  // namespace

}  // namespace hakozuna::launcher

int main(int count, char** words) {
  using namespace hakozuna::launcher;
  try {
    return launch(std::vector<std::string>(words + std::min(count, 1), words + count));
  } catch (const LauncherError& error) {
    return fail(error.what(), error.exit_code());
  } catch (const std::exception& error) {
    return fail(error.what(), kExitCannotStart);
  }
}
