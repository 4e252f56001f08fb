/* What the measuring helper tells the launcher: written once, as it lies in memory, to descriptor
 * MEASURE_RECORD_DESCRIPTOR. */
#ifndef HAKOZUNA_LAUNCHER_MEASURE_RECORD_H_
#define HAKOZUNA_LAUNCHER_MEASURE_RECORD_H_

#include <stdint.h>

enum { MEASURE_RECORD_DESCRIPTOR = 3 };

struct measure_record {
  int32_t start_error;  /* errno of the failed start, 0 if the program was started */
  int32_t wait_status;  /* as wait4 gives it */
  int64_t wall_ns;      /* from before the start to after the end */
  int64_t cpu_us;       /* user and system time of the program and the children it waited for */
  int64_t peak_kib;     /* greatest resident size of any one of those processes */
  int64_t minor_faults; /* page faults without input or output, of all of them */
};

#endif
