// What the kernel says about this process. Nothing here allocates: it would change what it
// measures.
#ifndef BENCH_MATRIX_PROCESS_STATUS_H
#define BENCH_MATRIX_PROCESS_STATUS_H

#include <stdint.h>

uint64_t resident_bytes(void);       // VmRSS of /proc/self/status
uint64_t peak_resident_bytes(void);  // of the process's whole life
uint64_t minor_fault_count(void);
double now_ms(void);

#endif
