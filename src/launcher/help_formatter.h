// How --help looks: the parser's own layout, with usage lines that show where the program goes and
// one line per subcommand.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace hakozuna::launcher {

class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter();
  std::string make_usage(const CLI::App* app, std::string name) const override;
  std::string make_subcommand(const CLI::App* command) const override;
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override;
};

}  // namespace hakozuna::launcher
