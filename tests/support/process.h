// Children and what the system says about this process.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace hakozuna::test {

// Resident memory of this process in bytes, exact (smaps_rollup, not the kernel's batched
// counters). Does not allocate.
size_t resident_bytes();

// Sleeps; signals do not cut it short.
void sleep_ms(unsigned milliseconds);

// Monotonic time in seconds.
double seconds_now();

struct Outcome {
  bool timed_out = false;  // the child was killed
  int exit_code = -1;      // -1 if a signal ended it
  int signal = 0;          // 0 if it ended by itself
  std::string output;      // standard output
  std::string errors;      // standard error
};

struct Command {
  std::vector<std::string> arguments = {};  // [0] is the program's path
  std::vector<std::pair<std::string, std::string>> environment =
      {};                          // added; an empty value removes
  size_t address_space_bytes = 0;  // RLIMIT_AS, 0 = as it is
  double timeout_seconds = 60;
};

// Runs a program to its end. It inherits the environment, LD_PRELOAD included, but for the settings
// of HAKOZUNA_*.
Outcome run(const Command& command);

// Waits for a child of fork() and kills it after the timeout. Returns the wait status, or -1 if it
// had to be killed.
int wait_for_child(pid_t child, double timeout_seconds);

}  // namespace hakozuna::test
