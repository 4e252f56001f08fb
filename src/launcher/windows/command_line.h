// The one string that a Windows program gets for its arguments.
#pragma once

#include <string>
#include <vector>

namespace hakozuna::launcher {

// Quoted so that the C runtimes and CommandLineToArgvW() take the string apart into the same words again: a backslash means itself unless a
// quotation mark follows it.
std::wstring join_arguments(const std::vector<std::wstring>& words);

}  // namespace hakozuna::launcher
