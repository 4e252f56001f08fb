// What the samples of a comparison say: medians, whether the allocators changed what the program
// does, and which line suits it. Pure computation; the commands measure and print.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "launcher/measurement.h"

namespace hakozuna::launcher {

enum class ContestantKind { kSystem, kLine, kPeer };

struct Contestant {
  ContestantKind kind = ContestantKind::kSystem;
  std::string name;  // "system", "hz8", "jemalloc"
  std::string path;  // of the library; empty for the system allocator
  std::vector<Sample> samples;
  // A run that is not measured but whose behaviour counts: with it a program that never does the
  // same twice shows even in one run.
  std::optional<Sample> rehearsal;
};

struct Summary {
  double wall_ms = 0;  // medians, but for the minimum
  double wall_ms_minimum = 0;
  double cpu_ms = 0;
  double peak_rss_mib = 0;
  double minor_faults = 0;
};

double median(std::vector<double> values);
Summary summarise(const std::vector<Sample>& samples);

// In which way the program did something else under an allocator than under the system's.
struct Difference {
  std::string allocator;
  std::string what;
};

struct Behaviour {
  std::vector<Difference> differences;
  std::vector<std::string>
      incomparable;  // streams that vary under the system allocator alone: "standard output"
};

// `contestants` holds the system allocator.
Behaviour compare_behaviour(const std::vector<Contestant>& contestants);

// The rule. Times within this share of the fastest count as equal, and then memory decides.
inline constexpr double kEqualTime = 0.03;

// The index of the summary that suits best: of those whose median time is within kEqualTime of the
// fastest's, the one with the least peak memory; of equals the faster. Nothing if there are none.
std::optional<size_t> choose(const std::vector<Summary>& summaries);

struct Choice {
  std::optional<std::string> line;  // the best of the lines under which the program behaves as it
                                    // does under the system allocator
  bool better_than_system = false;  // by the same rule
  double time_ratio = 0;            // of the line's medians to the system's
  double peak_ratio = 0;
};
Choice choose_line(const std::vector<Contestant>& contestants, const Behaviour& behaviour);

}  // namespace hakozuna::launcher
