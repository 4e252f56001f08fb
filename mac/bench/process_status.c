// bench/matrix's process_status.h for macOS.
#include "process_status.h"

#include <mach/mach.h>
#include <sys/resource.h>
#include <time.h>

#include "fail.h"

uint64_t resident_bytes(void) {
  mach_task_basic_info_data_t info;
  mach_msg_type_number_t count = MACH_TASK_BASIC_INFO_COUNT;
  if (task_info(mach_task_self(), MACH_TASK_BASIC_INFO, (task_info_t)&info, &count) != KERN_SUCCESS) {
    fail("task_info() says nothing");
  }
  return info.resident_size;
}

static struct rusage usage(void) {
  struct rusage result;
  getrusage(RUSAGE_SELF, &result);
  return result;
}

uint64_t peak_resident_bytes(void) { return (uint64_t)usage().ru_maxrss; }  // in bytes here

uint64_t minor_fault_count(void) { return (uint64_t)usage().ru_minflt; }

double now_ms(void) { return (double)clock_gettime_nsec_np(CLOCK_UPTIME_RAW) * 1e-6; }
