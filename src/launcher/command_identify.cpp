#include <dlfcn.h>

#include <cstdio>

#include "launcher/commands.h"

namespace hakozuna::launcher {

namespace {

int identify() {
  const auto version = reinterpret_cast<int (*)()>(::dlsym(RTLD_DEFAULT, "hakozuna_version"));
  if (!version) {
    std::puts("unknown");
    return 0;
  }
  const int number = version();
  std::printf("%d.%d.%d\n", number / 10000, number / 100 % 100, number % 100);
  return 0;
}

}  // namespace

void add_identify_command(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("identify", "");
  command->group("");  // not in the help
  command->callback([&invocation] { invocation.action = identify; });
}

}  // namespace hakozuna::launcher
