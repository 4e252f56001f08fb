#include "launcher/help_formatter.h"

#include <sstream>

namespace hakozuna::launcher {

namespace {
constexpr int kTextColumn = 34;
}

HelpFormatter::HelpFormatter() { column_width(kTextColumn); }

std::string HelpFormatter::make_usage(const CLI::App* app, std::string) const {
  if (!app->get_parent()) return "\nUsage: hakozuna COMMAND [OPTIONS] [-- PROGRAM [ARGUMENT]...]\n";
  const bool takes_program = app->get_name() != "list";
  return "\nUsage: hakozuna " + app->get_name() + " [OPTIONS]" +
         (takes_program ? " -- PROGRAM [ARGUMENT]..." : "") + "\n";
}

std::string HelpFormatter::make_subcommand(const CLI::App* command) const {
  const std::string description = command->get_description();
  std::ostringstream text;
  CLI::detail::format_help(text, command->get_name(),
                           description.substr(0, description.find("\n\n")), kTextColumn);
  return text.str();
}

std::string HelpFormatter::make_option_name(const CLI::Option* option, bool is_positional) const {
  // The parser adds the value a flag stands for in braces, which explains nothing here.
  const std::string name = CLI::Formatter::make_option_name(option, is_positional);
  return name.substr(0, name.find('{'));
}

}  // namespace hakozuna::launcher
