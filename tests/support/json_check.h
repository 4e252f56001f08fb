// Is a text one well-formed JSON value? Tests of the library's output need no more of a parser, and
// this one is strict.
#pragma once

#include <string>
#include <string_view>

namespace hakozuna::test {

// Empty if it is; else where it goes wrong.
std::string problem_with_json(std::string_view text);

}  // namespace hakozuna::test
