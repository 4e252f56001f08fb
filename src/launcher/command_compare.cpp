#include <algorithm>
#include <cstdio>
#include <memory>

#include "launcher/commands.h"
#include "launcher/comparison_report.h"
#include "launcher/diagnosis.h"
#include "launcher/environment.h"
#include "launcher/error.h"
#include "launcher/lines.h"
#include "launcher/peers.h"
#include "launcher/progress.h"

namespace hakozuna::launcher {

namespace {

struct CompareOptions {
  int runs = 5;
  std::vector<std::string> lines;  // empty: all
  bool peers = false;
  bool json = false;
};

// A comparison of a program that no library reaches would measure the same allocator several times
// and draw a conclusion from it.
void require_servable(const std::vector<std::string>& program) {
  const Diagnosis diagnosis = diagnose_program(program.front());
  const Found found = diagnosis.program.file.found;
  if (diagnosis.program.scripts.empty() && found != Found::kYes) {
    throw LauncherError(found == Found::kMissing ? kExitNotFound : kExitNotExecutable,
                        diagnosis.problems.front().what);
  }
  if (diagnosis.problems.empty()) return;
  throw LauncherError(kExitNotServed, "compare: " + program.front() +
                                          " cannot be served: " + diagnosis.problems.front().what +
                                          " (see hakozuna doctor)");
}

std::vector<Contestant> contestants_of(const CompareOptions& options) {
  std::vector<InstalledLine> lines;
  if (options.lines.empty()) {
    lines = find_lines();
    if (lines.empty()) find_line(kDefaultLine);  // throws, saying where it looked
  }
  for (const std::string& name : options.lines) {
    const bool again = std::any_of(lines.begin(), lines.end(),
                                   [&](const InstalledLine& line) { return line.name == name; });
    if (!again) lines.push_back(find_line(name));
  }

  std::vector<Contestant> contestants = {{ContestantKind::kSystem, "system", "", {}, {}}};
  for (const InstalledLine& line : lines) {
    if (const auto obstacle = preload_obstacle(line.path)) {
      throw LauncherError(kExitCannotStart, *obstacle);
    }
    contestants.push_back({ContestantKind::kLine, line.name, line.path.string(), {}, {}});
  }
  if (!options.peers) return contestants;
  for (const Peer& peer : find_peers()) {
    contestants.push_back({ContestantKind::kPeer, peer.name, peer.path.string(), {}, {}});
  }
  return contestants;
}

// Statistics of the line would be taken for output of the program.
Environment program_environment() {
  Environment environment = Environment::of_this_process();
  environment.remove_preloaded_lines();
  environment.unset("HAKOZUNA_STATS");
  environment.unset("HAKOZUNA_HELP");
  return environment;
}

std::string preload_of(const Contestant& contestant, const Environment& environment) {
  const std::string others = environment.get("LD_PRELOAD").value_or("");
  if (contestant.path.empty() || others.empty()) return contestant.path + others;
  return contestant.path + ":" + others;
}

// All contestants once per run, the order rotated by one each run, so that none always follows the
// same one.
void measure_all(std::vector<Contestant>& contestants, const std::vector<std::string>& program,
                 int runs) {
  const Environment environment = program_environment();
  const size_t count = contestants.size();
  Progress progress(1 + runs * static_cast<int>(count));
  // Brings the program's files into the page cache, which the first to run would pay for otherwise.
  progress.begin_step("rehearsal: system");
  contestants[0].rehearsal = measure(program, preload_of(contestants[0], environment), environment);
  for (int run = 0; run < runs; ++run) {
    for (size_t turn = 0; turn < count; ++turn) {
      Contestant& one = contestants[(turn + static_cast<size_t>(run)) % count];
      progress.begin_step("run " + std::to_string(run + 1) + " of " + std::to_string(runs) + ": " +
                          one.name);
      one.samples.push_back(measure(program, preload_of(one, environment), environment));
    }
  }
}

int compare(const CompareOptions& options, const std::vector<std::string>& program) {
  ComparisonResult result;
  result.contestants = contestants_of(options);
  require_servable(program);
  result.program = program;
  result.runs = options.runs;
  measure_all(result.contestants, program, options.runs);
  result.behaviour = compare_behaviour(result.contestants);
  result.choice = choose_line(result.contestants, result.behaviour);
  std::fputs((options.json ? comparison_json(result) : comparison_text(result)).c_str(), stdout);
  return result.behaviour.differences.empty() ? 0 : kExitNotServed;
}

}  // namespace

void add_compare_command(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<CompareOptions>();
  CLI::App* command = app.add_subcommand(
      "compare",
      "Measure a program under each allocator and say which suits it.\n\n"
      "Runs the program to its end under the system allocator and each line in turn, the order\n"
      "rotated every run, and prints medians of wall time, CPU time, peak memory and page faults.\n"
      "What the program prints is not shown, but reported where it differs between allocators, "
      "and\n"
      "so is its exit code. Each run reads standard input from the beginning if that is a file, "
      "and\n"
      "nothing otherwise. Choose a program that ends by itself and works for a second or more.");
  command
      ->add_option("--runs", options->runs, "Runs under each allocator, 1 to 1000; 5 if not given")
      ->check(CLI::Range(1, 1000))
      ->option_text("N");
  command
      ->add_option("--lines", options->lines,
                   "Only these lines, separated by commas (default: all found)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("NAME,...");
  command->add_flag("--peers", options->peers,
                    "Also under mimalloc, tcmalloc and jemalloc, where the system has them");
  command->add_flag("--json", options->json, "Print JSON, with every single run");
  command->footer(
      "The rule: among the lines under which the program behaves as under the system allocator,\n"
      "take those whose median wall time is within 3 % of the fastest of them, and of these the\n"
      "one with the lowest median peak memory. The same rule between that line and the system\n"
      "allocator says whether changing is worth it.\n\n"
      "Exit codes: 0; 1 if the program behaves differently under an allocator or cannot be "
      "served;\n"
      "2 for bad arguments; 125, 126, 127 as for run.\n\n"
      "Examples:\n"
      "  hakozuna compare -- ./batch-job input.dat\n"
      "  hakozuna compare --runs 10 --peers -- python3 script.py\n"
      "  hakozuna compare --lines hz8,hz10 --json -- gcc -O2 -c big.c -o /dev/null");
  command->callback([options, &invocation] {
    invocation.action = [options, &invocation] {
      return compare(*options, required_program(invocation, "compare"));
    };
  });
}

}  // namespace hakozuna::launcher
