// main of every GoogleTest program that runs against a line: reads the settings, proves that the
// line is there, runs the tests.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "support/line_under_test.h"
#include "support/settings.h"

namespace hakozuna::test {
namespace {

Settings& mutable_settings() {
  static Settings instance;
  return instance;
}

bool take(std::string_view argument, std::string_view name, std::string& value) {
  if (!argument.starts_with(name)) return false;
  value = argument.substr(name.size());
  return true;
}

// Returns the argument that makes no sense, or null.
const char* parse(int argc, char** argv) {
  Settings& s = mutable_settings();
  std::string seconds;
  for (int i = 1; i < argc; ++i) {
    if (!take(argv[i], "--line=", s.line) && !take(argv[i], "--library=", s.library) &&
        !take(argv[i], "--helpers=", s.helpers) && !take(argv[i], "--seconds=", seconds)) {
      return argv[i];
    }
  }
  if (const char* text = std::getenv("STRESS_SECONDS")) seconds = text;
  if (!seconds.empty()) s.seconds = std::strtod(seconds.c_str(), nullptr);
  return nullptr;
}

}  // namespace

const Settings& settings() { return mutable_settings(); }

}  // namespace hakozuna::test

int main(int argc, char** argv) {
  using namespace hakozuna::test;
  ::testing::InitGoogleTest(&argc, argv);
  if (const char* wrong = parse(argc, argv)) {
    std::fprintf(stderr, "unknown argument: %s\n", wrong);
    return 2;
  }
  if (!settings().line.empty()) {
    const std::string problem = problem_with_line(settings().line);
    if (!problem.empty()) {
      std::fprintf(stderr, "the line is not in place: %s\n", problem.c_str());
      return 1;
    }
  }
  return RUN_ALL_TESTS();
}
