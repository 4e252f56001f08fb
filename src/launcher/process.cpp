#include "launcher/process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

#include "launcher/error.h"
#include "launcher/scratch_file.h"

namespace hakozuna::launcher {

pid_t start_process(const std::filesystem::path& file, std::vector<std::string> words,
                    Environment environment, const std::vector<Redirection>& redirections) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  for (const Redirection& redirection : redirections) {
    ::posix_spawn_file_actions_adddup2(&actions, redirection.source, redirection.target);
  }
  pid_t process = -1;
  const int error = ::posix_spawn(&process, file.c_str(), &actions, nullptr,
                                  argument_pointers(words).data(), environment.pointers().data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    throw LauncherError(kExitCannotStart,
                        "cannot start " + file.string() + ": " + ::strerror(error));
  }
  return process;
}

Captured run_captured(const std::filesystem::path& file, const std::vector<std::string>& words,
                      const Environment& environment, std::chrono::milliseconds patience) {
  const ScratchFile input, output, errors;
  const pid_t process =
      start_process(file, words, environment,
                    {{input.descriptor(), 0}, {output.descriptor(), 1}, {errors.descriptor(), 2}});

  Captured captured;
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (;;) {
    const pid_t ended = ::waitpid(process, &captured.wait_status, captured.timed_out ? 0 : WNOHANG);
    if (ended == process || (ended < 0 && errno != EINTR)) break;
    if (std::chrono::steady_clock::now() > deadline) {
      captured.timed_out = true;
      ::kill(process, SIGKILL);
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  captured.output = output.text();
  captured.errors = errors.text();
  return captured;
}

std::string describe_end(int wait_status) {
  if (WIFEXITED(wait_status)) return "exit code " + std::to_string(WEXITSTATUS(wait_status));
  const int signal = WTERMSIG(wait_status);
  return "killed by signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")";
}

}  // namespace hakozuna::launcher
