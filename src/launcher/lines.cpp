#include "launcher/lines.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "launcher/error.h"
#include "launcher/installation.h"

namespace hakozuna::launcher {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kPrefix = "libhakozuna_";
constexpr std::string_view kSuffix = ".so";

std::string searched_directories() {
  std::string text;
  for (const fs::path& directory : library_directories()) {
    if (!text.empty()) text += " and ";
    text += directory.string();
  }
  return text;
}

}  // namespace

std::optional<std::string> line_name_of_file(const std::string& file_name) {
  if (!file_name.starts_with(kPrefix)) return std::nullopt;
  const size_t end = file_name.find(kSuffix, kPrefix.size());
  if (end == std::string::npos || end == kPrefix.size()) return std::nullopt;
  const std::string_view rest = std::string_view(file_name).substr(end + kSuffix.size());
  if (!rest.empty() &&
      (rest.front() != '.' || rest.find_first_not_of(".0123456789") != rest.npos)) {
    return std::nullopt;  // "libhakozuna_hz8.so.debug" and the like
  }
  return file_name.substr(kPrefix.size(), end - kPrefix.size());
}

std::vector<InstalledLine> find_lines() {
  std::map<std::string, fs::path> found;
  for (const fs::path& directory : library_directories()) {
    std::map<std::string, fs::path> here;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
      const std::string file_name = entry.path().filename().string();
      const std::optional<std::string> name = line_name_of_file(file_name);
      std::error_code unreadable;  // a dangling link is no library
      if (!name || !entry.is_regular_file(unreadable)) continue;
      // The shortest is the name without a version, where the development files are installed.
      auto [place, inserted] = here.try_emplace(*name, entry.path());
      if (!inserted && file_name.size() < place->second.filename().string().size()) {
        place->second = entry.path();
      }
    }
    found.merge(here);
  }

  std::vector<InstalledLine> lines;
  for (auto& [name, path] : found) lines.push_back({name, path});
  std::stable_partition(lines.begin(), lines.end(),
                        [](const InstalledLine& line) { return line.name == kDefaultLine; });
  return lines;
}

InstalledLine find_line(const std::string& name) {
  const std::vector<InstalledLine> lines = find_lines();
  std::string found;
  for (const InstalledLine& line : lines) {
    if (line.name == name) return line;
    found += (found.empty() ? "" : ", ") + line.name;
  }
  if (lines.empty()) {
    throw LauncherError(kExitCannotStart, "no libhakozuna_*.so in " + searched_directories() +
                                              "; set HAKOZUNA_LIBRARY_DIR to the directory that "
                                              "holds them");
  }
  throw LauncherError(kExitBadArguments, "there is no line '" + name + "'; found in " +
                                             searched_directories() + ": " + found);
}

std::optional<std::string> preload_obstacle(const fs::path& library) {
  if (library.string().find_first_of(" \t\n:") == std::string::npos) return std::nullopt;
  return "the library's path '" + library.string() +
         "' holds a space or a colon, which LD_PRELOAD cannot express; move the library or set "
         "HAKOZUNA_LIBRARY_DIR to a path without";
}

std::string purpose_of(const std::string& line_name) {
  // A line that is not named here is found, run and compared all the same.
  static const std::map<std::string, std::string> purposes = {
      {"hz3", "For programs whose threads free what they themselves allocated."},
      {"hz4", "For producers and consumers: many threads that free each other's blocks."},
      {"hz8", "The default: lowest memory, fast, and it stops at every bad free."},
      {"hz10", "For speed, local and remote, where some more memory may be spent."},
  };
  const auto place = purposes.find(line_name);
  return place != purposes.end() ? place->second : "A line this launcher has no description of.";
}

}  // namespace hakozuna::launcher
