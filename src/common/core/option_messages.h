// What is said about the options: the complaints about an environment, and the help.
#pragma once

#include <string_view>

#include "common/base/text.h"
#include "common/core/environment.h"

namespace hakozuna::core {

// One line to `fd` for each setting with a bad value and each of an unknown name. Returns whether
// the help is asked for (HAKOZUNA_HELP=1).
bool complain_about(Environment& environment, int fd);

// The known name that differs from `name` (without the prefix) in the fewest letters, and in no
// more than two or a third of them; empty if there is none.
std::string_view nearest_name(std::string_view name);

// For a terminal, and docs/options.md.
void write_help(TextWriter& out);
void write_markdown(TextWriter& out);

}  // namespace hakozuna::core
