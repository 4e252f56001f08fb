#include "launcher/comparison_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "launcher/process.h"
#include "launcher/table.h"

namespace hakozuna::launcher {

namespace {

using nlohmann::ordered_json;

const char* kind_name(ContestantKind kind) {
  switch (kind) {
    case ContestantKind::kSystem:
      return "system";
    case ContestantKind::kLine:
      return "line";
    case ContestantKind::kPeer:
      return "peer";
  }
  return "";
}

// How the runs ended, in a cell of the table: "0", "3", "signal 6"; "mixed" if the runs do not
// agree.
std::string ending_cell(const std::vector<Sample>& samples) {
  for (const Sample& sample : samples) {
    if (sample.wait_status != samples.front().wait_status) return "mixed";
  }
  std::string text = describe_end(samples.front().wait_status);
  if (text.starts_with("exit code ")) return text.substr(10);
  text = text.substr(text.find("signal"));
  return text.substr(0, text.find(" ("));
}

// A warning if the runs of the system allocator or of a line scatter so much that small differences
// mean nothing.
std::string noise_text(const std::vector<Contestant>& contestants) {
  constexpr double kQuiet = 1.10;  // of the median to the fastest run
  double worst = 1;
  for (const Contestant& one : contestants) {
    const Summary summary = summarise(one.samples);
    if (one.kind == ContestantKind::kPeer || summary.wall_ms_minimum <= 0) continue;
    worst = std::max(worst, summary.wall_ms / summary.wall_ms_minimum);
  }
  if (worst <= kQuiet) return "";
  return "Noisy: medians lie up to " + with_decimals((worst - 1) * 100, 0) +
         " % above the fastest run, so smaller differences in time mean little; a quieter machine, "
         "a longer job or more --runs help.\n";
}

std::string verdict(const Choice& choice) {
  if (!choice.line)
    return "No line can be recommended: the program behaves differently under each.\n";
  const std::string ratios = with_decimals(choice.time_ratio, 2) +
                             " x the system allocator's time, " +
                             with_decimals(choice.peak_ratio, 2) + " x its peak memory";
  if (choice.better_than_system) return *choice.line + " suits this program: " + ratios + ".\n";
  return "No line suits this program better than the system allocator; the nearest is " +
         *choice.line + ": " + ratios + ".\n";
}

ordered_json sample_json(const Sample& sample) {
  return {{"wall_ms", sample.wall_ms},
          {"cpu_ms", sample.cpu_ms},
          {"peak_rss_mib", sample.peak_rss_mib},
          {"minor_faults", sample.minor_faults},
          {"ended", describe_end(sample.wait_status)}};
}

ordered_json contestant_json(const Contestant& contestant) {
  const Summary summary = summarise(contestant.samples);
  ordered_json samples = ordered_json::array();
  for (const Sample& sample : contestant.samples) samples.push_back(sample_json(sample));
  ordered_json object = {{"name", contestant.name}, {"kind", kind_name(contestant.kind)}};
  if (!contestant.path.empty()) object["path"] = contestant.path;
  object["median"] = {{"wall_ms", summary.wall_ms},
                      {"cpu_ms", summary.cpu_ms},
                      {"peak_rss_mib", summary.peak_rss_mib},
                      {"minor_faults", summary.minor_faults}};
  object["wall_ms_minimum"] = summary.wall_ms_minimum;
  object["samples"] = std::move(samples);
  return object;
}

}  // namespace

std::string rule_text() {
  return "among the lines whose median time is within 3 % of the fastest line's, the one with the "
         "lowest median peak memory; it suits the program if the same rule prefers it to the "
         "system "
         "allocator";
}

std::string comparison_text(const ComparisonResult& result) {
  Table table({{"allocator", Align::kLeft},
               {"wall ms", Align::kRight},
               {"fastest", Align::kRight},
               {"CPU ms", Align::kRight},
               {"peak RSS MiB", Align::kRight},
               {"minor faults", Align::kRight},
               {"exit", Align::kRight}});
  for (const Contestant& one : result.contestants) {
    const Summary summary = summarise(one.samples);
    table.add_row({one.name, with_decimals(summary.wall_ms, 1),
                   with_decimals(summary.wall_ms_minimum, 1), with_decimals(summary.cpu_ms, 1),
                   with_decimals(summary.peak_rss_mib, 2), with_thousands(summary.minor_faults),
                   ending_cell(one.samples)});
  }
  std::string text = table.text();
  text += "\nMedians of " + std::to_string(result.runs) + (result.runs == 1 ? " run" : " runs") +
          " each, in turn.\n";
  for (const std::string& stream : result.behaviour.incomparable) {
    text += "Not compared: " + stream + ", which varies under the system allocator too.\n";
  }
  for (const Difference& difference : result.behaviour.differences) {
    text += "DIFFERENT under " + difference.allocator + ": " + difference.what + ".\n";
  }
  return text + noise_text(result.contestants) + verdict(result.choice);
}

std::string comparison_json(const ComparisonResult& result) {
  ordered_json allocators = ordered_json::array();
  for (const Contestant& one : result.contestants) allocators.push_back(contestant_json(one));
  ordered_json differences = ordered_json::array();
  for (const Difference& difference : result.behaviour.differences) {
    differences.push_back({{"allocator", difference.allocator}, {"what", difference.what}});
  }
  ordered_json object = {{"program", result.program},
                         {"runs", result.runs},
                         {"allocators", std::move(allocators)},
                         {"differences", std::move(differences)},
                         {"not_compared", result.behaviour.incomparable},
                         {"rule", rule_text()},
                         {"line", nullptr}};
  if (result.choice.line) {
    object["line"] = *result.choice.line;
    object["better_than_system"] = result.choice.better_than_system;
    object["time_ratio"] = result.choice.time_ratio;
    object["peak_ratio"] = result.choice.peak_ratio;
  }
  // Arguments need not be UTF-8; what is not is replaced rather than refused.
  return object.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace hakozuna::launcher
