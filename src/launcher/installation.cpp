#include "launcher/installation.h"

#include <unistd.h>

#include <cstdlib>

#include "launcher/error.h"

namespace hakozuna::launcher {

namespace fs = std::filesystem;

fs::path launcher_file() {
  std::error_code error;
  fs::path file = fs::read_symlink("/proc/self/exe", error);
  if (error) throw LauncherError(kExitCannotStart, "cannot read /proc/self/exe; is /proc mounted?");
  return file;
}

std::vector<fs::path> library_directories() {
  if (const char* chosen = std::getenv("HAKOZUNA_LIBRARY_DIR"); chosen && *chosen) {
    return {fs::absolute(chosen).lexically_normal()};
  }
  const fs::path here = launcher_file().parent_path();
  std::vector<fs::path> directories;
  // The first is the build tree's, and that of an installation without a multiarch directory.
  for (const char* relative : {"../lib", HAKOZUNA_LIBDIR_FROM_BINDIR}) {
    fs::path directory = (here / relative).lexically_normal();
    if (directories.empty() || directories.front() != directory) directories.push_back(directory);
  }
  return directories;
}

fs::path measure_helper() {
  const fs::path here = launcher_file().parent_path();
  for (const char* relative : {"../libexec/hakozuna", HAKOZUNA_LIBEXECDIR_FROM_BINDIR}) {
    const fs::path helper = (here / relative / "hakozuna-measure").lexically_normal();
    if (::access(helper.c_str(), X_OK) == 0) return helper;
  }
  throw LauncherError(kExitCannotStart,
                      "the helper hakozuna-measure is not installed beside the launcher");
}

}  // namespace hakozuna::launcher
