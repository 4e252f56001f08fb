#include "support/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

extern char** environ;

namespace hakozuna::test {
namespace {

// The child's environment block, complete before fork(): a child of a threaded process should do as
// little as it can.
std::vector<std::string> make_environment(const Command& command) {
  std::vector<std::string> block;
  const auto is_changed = [&command](const std::string& entry) {
    if (entry.starts_with("HAKOZUNA_")) return true;
    for (const auto& [name, value] : command.environment) {
      if (entry.starts_with(name + "=")) return true;
    }
    return false;
  };
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!is_changed(*entry)) block.push_back(*entry);
  }
  for (const auto& [name, value] : command.environment) {
    if (!value.empty()) block.push_back(name + "=" + value);
  }
  return block;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

[[noreturn]] void become(const Command& command, char** arguments, char** environment, int out,
                         int err) {
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  if (command.address_space_bytes != 0) {
    const rlimit limit{command.address_space_bytes, command.address_space_bytes};
    setrlimit(RLIMIT_AS, &limit);
  }
  execve(arguments[0], arguments, environment);
  _exit(127);
}

// Reads both pipes until both are closed. Returns false when the deadline passes first.
bool collect(int out, int err, double deadline, Outcome& outcome) {
  pollfd pipes[] = {{out, POLLIN, 0}, {err, POLLIN, 0}};
  std::string* texts[] = {&outcome.output, &outcome.errors};
  while (pipes[0].fd >= 0 || pipes[1].fd >= 0) {
    const double left = deadline - seconds_now();
    if (left <= 0) return false;
    if (poll(pipes, 2, static_cast<int>(left * 1000) + 1) <= 0) continue;
    for (int i = 0; i < 2; ++i) {
      if (pipes[i].fd < 0 || pipes[i].revents == 0) continue;
      char buffer[4096];
      const ssize_t got = read(pipes[i].fd, buffer, sizeof buffer);
      if (got > 0) {
        texts[i]->append(buffer, static_cast<size_t>(got));
      } else if (got == 0 || errno != EINTR) {
        pipes[i].fd = -1;
      }
    }
  }
  return true;
}

}  // namespace

size_t resident_bytes() {
  const int fd = open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  char text[2048];
  size_t length = 0;
  for (ssize_t got;
       length < sizeof text - 1 && (got = read(fd, text + length, sizeof text - 1 - length)) > 0;) {
    length += static_cast<size_t>(got);
  }
  close(fd);
  text[length] = '\0';
  const char* field = std::strstr(text, "\nRss:");
  return field == nullptr ? 0 : std::strtoull(field + 5, nullptr, 10) * 1024;
}

void sleep_ms(unsigned milliseconds) {
  timespec left{static_cast<time_t>(milliseconds / 1000),
                static_cast<long>(milliseconds % 1000) * 1000000};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

double seconds_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

int wait_for_child(pid_t child, double timeout_seconds) {
  const double deadline = seconds_now() + timeout_seconds;
  int status = 0;
  for (;;) {
    if (waitpid(child, &status, WNOHANG) == child) return status;
    if (seconds_now() > deadline) break;
    sleep_ms(1);
  }
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  return -1;
}

Outcome run(const Command& command) {
  std::vector<std::string> argument_texts = command.arguments;
  std::vector<std::string> environment_texts = make_environment(command);
  const std::vector<char*> arguments = pointers_to(argument_texts);
  const std::vector<char*> environment = pointers_to(environment_texts);

  Outcome outcome;
  int out[2];
  int err[2];
  if (pipe2(out, O_CLOEXEC) != 0) return outcome;
  if (pipe2(err, O_CLOEXEC) != 0) {
    close(out[0]);
    close(out[1]);
    return outcome;
  }
  const pid_t child = fork();
  if (child == 0) {
    become(command, const_cast<char**>(arguments.data()), const_cast<char**>(environment.data()),
           out[1], err[1]);
  }
  close(out[1]);
  close(err[1]);
  if (child > 0) {
    const double deadline = seconds_now() + command.timeout_seconds;
    collect(out[0], err[0], deadline, outcome);
    const double left = deadline - seconds_now();
    const int status = wait_for_child(child, left > 0 ? left : 0);
    if (status == -1) {
      outcome.timed_out = true;
    } else if (WIFEXITED(status)) {
      outcome.exit_code = WEXITSTATUS(status);
    } else {
      outcome.signal = WTERMSIG(status);
    }
  }
  close(out[0]);
  close(err[0]);
  return outcome;
}

}  // namespace hakozuna::test
