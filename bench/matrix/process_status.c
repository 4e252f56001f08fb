#include "process_status.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "fail.h"

uint64_t resident_bytes(void) {
  char text[4096];
  const int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  const ssize_t length = file < 0 ? -1 : read(file, text, sizeof text - 1);
  if (length <= 0) fail("/proc/self/status cannot be read");
  close(file);
  text[length] = '\0';
  const char* entry = strstr(text, "\nVmRSS:");
  if (!entry) fail("/proc/self/status has no VmRSS");
  return strtoull(entry + sizeof "\nVmRSS:" - 1, NULL, 10) * 1024;
}

static struct rusage usage(void) {
  struct rusage result;
  getrusage(RUSAGE_SELF, &result);
  return result;
}

uint64_t peak_resident_bytes(void) { return (uint64_t)usage().ru_maxrss * 1024; }

uint64_t minor_fault_count(void) { return (uint64_t)usage().ru_minflt; }

double now_ms(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}
