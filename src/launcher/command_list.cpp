#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "launcher/commands.h"
#include "launcher/environment.h"
#include "launcher/error.h"
#include "launcher/installation.h"
#include "launcher/lines.h"
#include "launcher/peers.h"
#include "launcher/process.h"
#include "launcher/table.h"

namespace hakozuna::launcher {

namespace {

using nlohmann::ordered_json;

// Asks the library itself, by loading it into this same program in a process of its own: a library
// that does not load is told from one that does, and its code never runs in this process.
std::string version_of(const InstalledLine& line) {
  if (preload_obstacle(line.path)) return "cannot be preloaded from this path";
  Environment environment = Environment::of_this_process();
  environment.preload(line.path);
  environment.unset("HAKOZUNA_STATS");  // would be mixed with the answer
  environment.unset("HAKOZUNA_HELP");
  const Captured answer = run_captured(launcher_file(), {"hakozuna", "identify"}, environment);
  if (!answer.succeeded() || answer.errors.find("ERROR: ld.so:") != std::string::npos) {
    return "does not load";
  }
  return answer.output.substr(0, answer.output.find('\n'));
}

std::string listing_json(const std::vector<InstalledLine>& lines, const std::vector<Peer>& peers) {
  ordered_json object = {{"lines", ordered_json::array()}, {"peers", ordered_json::array()}};
  for (const InstalledLine& line : lines) {
    object["lines"].push_back({{"name", line.name},
                               {"version", version_of(line)},
                               {"path", line.path.string()},
                               {"purpose", purpose_of(line.name)}});
  }
  for (const Peer& peer : peers) {
    object["peers"].push_back(
        {{"name", peer.name}, {"version", peer.version}, {"path", peer.path.string()}});
  }
  return object.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string listing_text(const std::vector<InstalledLine>& lines, const std::vector<Peer>& peers) {
  std::string text;
  if (lines.empty()) {
    text += "No line found in";
    for (const auto& directory : library_directories()) text += " " + directory.string();
    text += "; set HAKOZUNA_LIBRARY_DIR to the directory of libhakozuna_*.so.\n";
  } else {
    Table table({{"line", Align::kLeft},
                 {"version", Align::kLeft},
                 {"path", Align::kLeft},
                 {"what it is for", Align::kLeft}});
    for (const InstalledLine& line : lines) {
      table.add_row({line.name, version_of(line), line.path.string(), purpose_of(line.name)});
    }
    text += table.text();
  }
  if (peers.empty()) {
    return text + "\nNo other allocator found (mimalloc, tcmalloc, jemalloc) to compare with.\n";
  }
  Table table({{"peer", Align::kLeft}, {"version", Align::kLeft}, {"path", Align::kLeft}});
  for (const Peer& peer : peers) table.add_row({peer.name, peer.version, peer.path.string()});
  return text + "\n" + table.text();
}

int list(bool json) {
  const std::vector<InstalledLine> lines = find_lines();
  const std::vector<Peer> peers = find_peers();
  std::fputs((json ? listing_json(lines, peers) : listing_text(lines, peers)).c_str(), stdout);
  return lines.empty() ? kExitNotServed : 0;
}

}  // namespace

void add_list_command(CLI::App& app, Invocation& invocation) {
  const auto json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand(
      "list",
      "List the allocators that are installed.\n\n"
      "These are the lines of this project and, to compare with, mimalloc, tcmalloc and jemalloc\n"
      "where the distribution has them.");
  command->add_flag("--json", *json, "Print JSON instead of a table");
  command->footer("Exit codes: 0; 1 if no line is found; 2 for bad arguments.");
  command->callback([json, &invocation] {
    invocation.action = [json, &invocation] {
      if (!invocation.program.empty()) {
        throw LauncherError(kExitBadArguments, "list: takes no program");
      }
      return list(*json);
    };
  });
}

}  // namespace hakozuna::launcher
