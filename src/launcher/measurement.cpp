#include "launcher/measurement.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "launcher/error.h"
#include "launcher/installation.h"
#include "launcher/measure_record.h"
#include "launcher/process.h"

namespace hakozuna::launcher {

namespace {

// The standard input of one run. Opening /proc/self/fd/0 gives a file position of its own, so every
// run reads from the beginning.
class Input {
 public:
  Input() {
    struct stat status;
    if (::fstat(STDIN_FILENO, &status) == 0 && S_ISREG(status.st_mode)) {
      const int own = ::open("/proc/self/fd/0", O_RDONLY | O_CLOEXEC);
      if (own >= 0) {
        reopened_ = ::fcntl(own, F_DUPFD_CLOEXEC, 10);
        ::close(own);
      }
    }
  }
  ~Input() {
    if (reopened_ >= 0) ::close(reopened_);
  }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  int descriptor() const { return reopened_ >= 0 ? reopened_ : empty_.descriptor(); }

 private:
  ScratchFile empty_;
  int reopened_ = -1;
};

}  // namespace

Sample measure(const std::vector<std::string>& program, const std::string& preload,
               Environment environment) {
  const Input input;
  const ScratchFile output, errors, result;
  std::vector<std::string> words = {"hakozuna-measure", preload};
  words.insert(words.end(), program.begin(), program.end());
  environment.unset("LD_PRELOAD");  // the helper itself is served by nobody
  const pid_t helper = start_process(measure_helper(), words, environment,
                                     {{input.descriptor(), 0},
                                      {output.descriptor(), 1},
                                      {errors.descriptor(), 2},
                                      {result.descriptor(), MEASURE_RECORD_DESCRIPTOR}});
  int status = 0;
  while (::waitpid(helper, &status, 0) < 0 && errno == EINTR) {
  }

  measure_record record;
  if (status != 0 || ::pread(result.descriptor(), &record, sizeof record, 0) !=
                         static_cast<ssize_t>(sizeof record)) {
    throw LauncherError(kExitCannotStart, "the measuring helper failed: " + describe_end(status));
  }
  if (record.start_error != 0) {
    throw LauncherError(record.start_error == ENOENT ? kExitNotFound : kExitNotExecutable,
                        program.front() + ": " + ::strerror(record.start_error));
  }
  Sample sample;
  sample.wall_ms = static_cast<double>(record.wall_ns) / 1e6;
  sample.cpu_ms = static_cast<double>(record.cpu_us) / 1e3;
  sample.peak_rss_mib = static_cast<double>(record.peak_kib) / 1024;
  sample.minor_faults = record.minor_faults;
  sample.wait_status = record.wait_status;
  sample.output = output.digest();
  sample.errors = errors.digest();
  return sample;
}

}  // namespace hakozuna::launcher
