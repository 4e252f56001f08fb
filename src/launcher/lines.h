// The allocator lines that are installed: one libhakozuna_<name>.so each.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace hakozuna::launcher {

inline constexpr const char* kDefaultLine = "hz8";

struct InstalledLine {
  std::string name;            // "hz8"
  std::filesystem::path path;  // absolute
};

// Every line found, the default line first, then by name. A name in an earlier directory hides the
// same name in a later one.
std::vector<InstalledLine> find_lines();

// The line of that name; throws LauncherError (a bad argument, or no library at all) with what was
// found instead.
InstalledLine find_line(const std::string& name);

// Why the dynamic loader could not be told of this path, or nothing. LD_PRELOAD separates names by
// spaces and colons and has no way of quoting them.
std::optional<std::string> preload_obstacle(const std::filesystem::path& library);

// One sentence on what the line is for.
std::string purpose_of(const std::string& line_name);

// "libhakozuna_<name>.so" or "libhakozuna_<name>.so.<version>": the name of the line, or nothing.
std::optional<std::string> line_name_of_file(const std::string& file_name);

}  // namespace hakozuna::launcher
