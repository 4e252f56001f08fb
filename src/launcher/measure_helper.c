/* hakozuna-measure PRELOAD PROGRAM [ARGUMENT]...
 *
 * Starts the program with LD_PRELOAD=PRELOAD (without, if that is empty), waits for it and writes
 * what it cost. `hakozuna compare` starts it; it is of no use by hand.
 *
 * Why a process of its own: Linux counts the peak of the process that calls fork or vfork, up to
 * the moment of exec, as the peak of the program that is started. This one is linked statically and
 * allocates next to nothing, so its own peak lies below that of any program that loads a C library,
 * and the figure is the program's. It is C, not C++, for the same reason.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "launcher/measure_record.h"

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t microseconds(struct timeval time) {
  return (int64_t)time.tv_sec * 1000000 + time.tv_usec;
}

int main(int count, char** words) {
  if (count < 3) return 2;
  if (words[1][0] != '\0' && setenv("LD_PRELOAD", words[1], 1) != 0) return 2;
  fcntl(MEASURE_RECORD_DESCRIPTOR, F_SETFD, FD_CLOEXEC);
  /* Whoever kills the launcher has stopped the comparison: nothing is left running. */
  prctl(PR_SET_PDEATHSIG, SIGKILL);

  struct measure_record record;
  memset(&record, 0, sizeof record);
  volatile int start_error = 0; /* the child of vfork writes it in our memory */
  const int64_t start = now_ns();
  const pid_t program = vfork();
  if (program == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execvp(words[2], words + 2);
    start_error = errno;
    _exit(127);
  }
  if (program < 0) start_error = errno;

  struct rusage usage;
  int status = 0;
  while (program > 0 && wait4(program, &status, 0, &usage) < 0) {
    if (errno != EINTR) return 2;
  }
  record.wall_ns = now_ns() - start;
  record.start_error = start_error;
  if (program > 0) {
    record.wait_status = status;
    record.cpu_us = microseconds(usage.ru_utime) + microseconds(usage.ru_stime);
    record.peak_kib = usage.ru_maxrss;
    record.minor_faults = usage.ru_minflt;
  }
  return write(MEASURE_RECORD_DESCRIPTOR, &record, sizeof record) == (ssize_t)sizeof record ? 0 : 2;
}
