#include "launcher/binding_proof.h"

#include <array>
#include <optional>
#include <sstream>
#include <string_view>

#include "launcher/environment.h"
#include "launcher/process.h"

namespace hakozuna::launcher {

namespace fs = std::filesystem;

namespace {

constexpr std::array<std::string_view, 4> kFunctions = {"malloc", "calloc", "realloc", "free"};

// The text between `before` and `after`, or nothing.
std::optional<std::string> between(const std::string& line, std::string_view before,
                                   std::string_view after) {
  const size_t start = line.find(before);
  if (start == std::string::npos) return std::nullopt;
  const size_t from = start + before.size();
  const size_t to = line.find(after, from);
  if (to == std::string::npos) return std::nullopt;
  return line.substr(from, to - from);
}

// "  4711: binding file /usr/bin/x [0] to /usr/lib/y.so [0]: normal symbol `malloc' [GLIBC_2.2.5]"
std::optional<Binding> parse_binding(const std::string& line) {
  const auto function = between(line, "normal symbol `", "'");
  if (!function) return std::nullopt;
  bool wanted = false;
  for (const std::string_view name : kFunctions) wanted |= *function == name;
  const auto user = between(line, "binding file ", " [");
  const auto provider = between(line, "] to ", " [");
  if (!wanted || !user || !provider) return std::nullopt;
  return Binding{*user, *function, *provider};
}

bool same_file(const std::string& one, const fs::path& other) {
  std::error_code error;
  return one == other || fs::equivalent(one, other, error);
}

// "  libm.so.6 => /lib/libm.so.6 (0x00007f...)", "  libx.so => not found", "  /path/of/preloaded.so
// (0x00007f...)"
void parse_loaded(const std::string& line, const fs::path& library, BindingProof& proof) {
  std::istringstream words(line);
  std::string name, arrow, target;
  words >> name >> arrow >> target;
  if (name.empty()) return;
  if (arrow == "=>" && target == "not") {
    proof.missing.push_back(name);
    return;
  }
  const std::string path = arrow == "=>" ? target : name;
  proof.loaded.push_back(fs::path(path).filename().string());
  if (same_file(path, library)) proof.library_loaded = true;
}

// What ends a start. While it lists, the loader goes on after it, and says so in its debugging
// lines.
bool is_refusal(const std::string& line) {
  if (line.ends_with("(continued)")) return false;
  return (line.find("version `") != std::string::npos &&
          line.find("not found") != std::string::npos) ||
         line.find("error while loading") != std::string::npos;
}

void set_if_empty(std::string& text, const std::string& line) {
  if (text.empty()) text = line;
}

}  // namespace

BindingProof prove_binding(const fs::path& binary, const fs::path& library) {
  Environment environment = Environment::of_this_process();
  environment.preload(library);
  environment.set("LD_TRACE_LOADED_OBJECTS",
                  "1");                 // load, list, and exit before the program's code
  environment.set("LD_WARN", "1");      // bind as well
  environment.set("LD_BIND_NOW", "1");  // functions too, not only data
  environment.set("LD_DEBUG", "bindings");
  environment.unset("LD_DEBUG_OUTPUT");
  const Captured run = run_captured(binary, {binary.string()}, environment);

  BindingProof proof;
  std::istringstream listing(run.output);
  for (std::string line; std::getline(listing, line);) parse_loaded(line, library, proof);

  std::istringstream bindings(run.errors);
  for (std::string line; std::getline(bindings, line);) {
    if (const auto binding = parse_binding(line)) {
      (same_file(binding->provider, library) ? proof.ours : proof.others).push_back(*binding);
    } else if (line.find("ERROR: ld.so:") != std::string::npos) {
      set_if_empty(proof.complaint, line);
    } else if (is_refusal(line)) {
      set_if_empty(proof.refusal, line);
    }
  }
  if (run.timed_out) set_if_empty(proof.refusal, "it did not finish within 10 seconds");
  return proof;
}

}  // namespace hakozuna::launcher
