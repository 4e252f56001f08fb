// The result of a comparison, for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "launcher/comparison.h"

namespace hakozuna::launcher {

struct ComparisonResult {
  std::vector<std::string> program;
  int runs = 0;
  std::vector<Contestant> contestants;
  Behaviour behaviour;
  Choice choice;
};

std::string comparison_text(const ComparisonResult& result);
std::string comparison_json(const ComparisonResult& result);

// The rule in words, as --help, the report and the JSON state it.
std::string rule_text();

}  // namespace hakozuna::launcher
