// One run of a program under one allocator, and what it cost.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launcher/environment.h"
#include "launcher/scratch_file.h"

namespace hakozuna::launcher {

struct Sample {
  double wall_ms = 0;
  double cpu_ms = 0;
  double peak_rss_mib = 0;
  int64_t minor_faults = 0;
  int wait_status = 0;  // as waitpid gives it
  ScratchFile::Digest output;
  ScratchFile::Digest errors;
};

// Runs the program with exactly `preload` as its LD_PRELOAD (none if empty). Its standard input is
// the launcher's, from the beginning, if that is a regular file, and else empty. Throws
// LauncherError if the program cannot be started.
Sample measure(const std::vector<std::string>& program, const std::string& preload,
               Environment environment);

}  // namespace hakozuna::launcher
