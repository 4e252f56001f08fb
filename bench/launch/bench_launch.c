// Starts one program under one allocator and says what it cost.
//
//   bench_launch --report-fd FD [--preload LIBRARY] [--timeout SECONDS] -- PROGRAM [ARGUMENT]...
//
// Why it exists: Linux carries the peak resident size of the process image that called exec over
// into the new one. A program started from a Python interpreter therefore never shows a peak below
// the interpreter's. This program is small, starts the child with vfork (no copy of anything), sets
// LD_PRELOAD for the child alone, and writes one JSON line to FD, with the members
//
// - status: "exited", "killed" or "timeout"
// - code: the exit code, or the signal that killed it
// - wall_s, user_s, system_s: seconds
// - peak_rss: bytes
// - minor_faults, major_faults: counts
//
// The figures are those of the program and of the descendants it waited for; peak_rss is that of
// the largest of them. On a timeout, or when this program is told to end, the child's whole process
// group is killed.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kUsageError = 2, kCannotStart = 127 };

struct Request {
  const char* preload;     // null: none
  double timeout_seconds;  // 0: none
  int report_fd;
  char** program;  // with its arguments, null-terminated
};

static _Noreturn void usage_error(const char* what, const char* value) {
  fprintf(stderr, "bench_launch: %s%s%s\n", what, value ? ": " : "", value ? value : "");
  exit(kUsageError);
}

static double parse_number(const char* text, double lowest) {
  char* end;
  const double value = strtod(text, &end);
  if (end == text || *end != '\0' || !(value >= lowest)) usage_error("not a valid number", text);
  return value;
}

static struct Request parse(int argc, char** argv) {
  struct Request request = {.report_fd = -1};
  int i = 1;
  for (; i < argc && strcmp(argv[i], "--") != 0; i += 2) {
    if (i + 1 >= argc) usage_error("an option without its value", argv[i]);
    if (strcmp(argv[i], "--preload") == 0) {
      request.preload = argv[i + 1];
    } else if (strcmp(argv[i], "--timeout") == 0) {
      request.timeout_seconds = parse_number(argv[i + 1], 0);
    } else if (strcmp(argv[i], "--report-fd") == 0) {
      request.report_fd = (int)parse_number(argv[i + 1], 0);
    } else {
      usage_error("unknown option", argv[i]);
    }
  }
  if (i + 1 >= argc) usage_error("no program after --", NULL);
  if (request.report_fd < 0) usage_error("--report-fd is missing", NULL);
  request.program = argv + i + 1;
  return request;
}

static double now_seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

// The child shares our memory until it has called execvp, so it only makes system calls.
static pid_t start(const struct Request* request, const sigset_t* original_mask) {
  const pid_t parent = getpid();
  const pid_t child = vfork();
  if (child != 0) return child;
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // we may be killed without a chance to clean up
  if (getppid() != parent) _exit(kCannotStart);
  sigprocmask(SIG_SETMASK, original_mask, NULL);
  execvp(request->program[0], request->program);
  _exit(kCannotStart);
}

static void report(int fd, const char* status, int code, double wall, const struct rusage* usage) {
  dprintf(
      fd,
      "{\"status\": \"%s\", \"code\": %d, \"wall_s\": %.6f, \"user_s\": %ld.%06ld, "
      "\"system_s\": %ld.%06ld, \"peak_rss\": %ld, \"minor_faults\": %ld, \"major_faults\": %ld}\n",
      status, code, wall, (long)usage->ru_utime.tv_sec, (long)usage->ru_utime.tv_usec,
      (long)usage->ru_stime.tv_sec, (long)usage->ru_stime.tv_usec, usage->ru_maxrss * 1024L,
      usage->ru_minflt, usage->ru_majflt);
}

// Waits for the child until the deadline (0: for ever). False when the time is over or we are told
// to end.
static bool wait_until(pid_t child, double deadline, const sigset_t* awaited, int* status,
                       struct rusage* usage) {
  for (;;) {
    if (wait4(child, status, WNOHANG, usage) == child) return true;
    struct timespec left = {.tv_sec = 3600};
    if (deadline > 0) {
      const double seconds = deadline - now_seconds();
      if (seconds <= 0) return false;
      left.tv_sec = (time_t)seconds;
      left.tv_nsec = (long)((seconds - (double)left.tv_sec) * 1e9);
    }
    const int signal_number = sigtimedwait(awaited, NULL, &left);
    if (signal_number == SIGINT || signal_number == SIGTERM) return false;
  }
}

int main(int argc, char** argv) {
  const struct Request request = parse(argc, argv);
  fcntl(request.report_fd, F_SETFD, FD_CLOEXEC);
  if (request.preload) {
    setenv("LD_PRELOAD", request.preload, 1);
  } else {
    unsetenv("LD_PRELOAD");
  }

  sigset_t awaited;
  sigset_t original_mask;
  sigemptyset(&awaited);
  sigaddset(&awaited, SIGCHLD);
  sigaddset(&awaited, SIGINT);
  sigaddset(&awaited, SIGTERM);
  sigprocmask(SIG_BLOCK, &awaited, &original_mask);

  const double begin = now_seconds();
  const pid_t child = start(&request, &original_mask);
  if (child < 0) {
    fprintf(stderr, "bench_launch: vfork: %s\n", strerror(errno));
    return kCannotStart;
  }
  const double deadline = request.timeout_seconds > 0 ? begin + request.timeout_seconds : 0;
  int status = 0;
  struct rusage usage;
  const bool ended = wait_until(child, deadline, &awaited, &status, &usage);
  if (!ended) {
    kill(-child, SIGKILL);
    wait4(child, &status, 0, &usage);
    report(request.report_fd, "timeout", SIGKILL, now_seconds() - begin, &usage);
  } else if (WIFSIGNALED(status)) {
    report(request.report_fd, "killed", WTERMSIG(status), now_seconds() - begin, &usage);
  } else {
    report(request.report_fd, "exited", WEXITSTATUS(status), now_seconds() - begin, &usage);
  }
  return 0;
}
