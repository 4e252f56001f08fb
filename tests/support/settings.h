// What the test programs are told on their command line, beside what GoogleTest takes:
//   --line=NAME      the line that must serve this process; without it any allocator will do
//   --library=PATH   its shared library, for children that load it in another way
//   --helpers=DIR    where the helper programs and libraries of the tests are
//   --seconds=N      how long each of the random tests runs (the environment's
//   STRESS_SECONDS is stronger)
#pragma once

#include <string>

namespace hakozuna::test {

struct Settings {
  std::string line;
  std::string library;
  std::string helpers;
  double seconds = 2;
};
const Settings& settings();

}  // namespace hakozuna::test
