#include "common/api/exit_report.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/api/statistics.h"
#include "common/core/options.h"

namespace hakozuna::api {
namespace {

// The kept descriptor is out of the way of programs that count on getting the lowest numbers.
constexpr int kLowestKeptDescriptor = 200;

int kept_descriptor = -1;
struct stat kept_file;

// The program may have closed our descriptor with all others and opened a file of its own under the number.
bool leads_to_kept_file(int descriptor) {
  struct stat file;
  return fstat(descriptor, &file) == 0 && file.st_dev == kept_file.st_dev &&
         file.st_ino == kept_file.st_ino;
}

}  // namespace

void prepare_exit_report() {
  if (core::stats() == core::StatsMode::kOff || fstat(STDERR_FILENO, &kept_file) != 0) return;
  kept_descriptor = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, kLowestKeptDescriptor);
  if (kept_descriptor < 0) kept_descriptor = STDERR_FILENO;  // few descriptors allowed
}

void print_exit_report() {
  if (kept_descriptor < 0 || !leads_to_kept_file(kept_descriptor)) return;
  if (core::stats() == core::StatsMode::kJson) {
    print_statistics_json(kept_descriptor);
  } else {
    print_statistics_table(kept_descriptor);
  }
}

}  // namespace hakozuna::api
