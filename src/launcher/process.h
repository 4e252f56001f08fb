// Starting another process and waiting for it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "launcher/environment.h"

namespace hakozuna::launcher {

// Descriptor `source` of this process becomes `target` in the child.
struct Redirection {
  int source;
  int target;
};

// Starts `file` with those words as argv. Throws LauncherError if it cannot be started.
pid_t start_process(const std::filesystem::path& file, std::vector<std::string> words,
                    Environment environment, const std::vector<Redirection>& redirections);

struct Captured {
  bool timed_out = false;
  int wait_status = 0;  // as waitpid gives it
  std::string output;
  std::string errors;

  bool succeeded() const { return !timed_out && wait_status == 0; }
};

// Runs `file` to its end with an empty standard input and keeps what it writes; kills it when
// `patience` is over.
Captured run_captured(const std::filesystem::path& file, const std::vector<std::string>& words,
                      const Environment& environment,
                      std::chrono::milliseconds patience = std::chrono::seconds(10));

// "exit code 3", "killed by signal 6 (Aborted)".
std::string describe_end(int wait_status);

}  // namespace hakozuna::launcher
