// Where the launcher lies, and from there where the libraries and the measuring helper are: in the
// build tree and, wherever that was moved to, in the installed tree.
#pragma once

#include <filesystem>
#include <vector>

namespace hakozuna::launcher {

// The launcher's own file, symbolic links resolved.
std::filesystem::path launcher_file();

// Directories that may hold libhakozuna_*.so, in order of preference. HAKOZUNA_LIBRARY_DIR, if set,
// is the only one.
std::vector<std::filesystem::path> library_directories();

// The helper that starts and measures a program for `compare`. Throws LauncherError if it is
// missing.
std::filesystem::path measure_helper();

}  // namespace hakozuna::launcher
