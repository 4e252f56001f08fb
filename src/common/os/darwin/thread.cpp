// A thread is known by the name of its kernel port: 32 bits, and the kernel says whether a name is still that of a thread. The number that
// pthread_threadid_np() gives has 64 bits and no public call that looks it up.
#include "common/os/thread.h"

#include <mach/mach.h>
#include <pthread.h>

namespace hakozuna::os {

uint32_t thread_id() { return pthread_mach_thread_np(pthread_self()); }

bool thread_exists(uint32_t thread_id) {
  mach_port_type_t type = 0;
  if (mach_port_type(mach_task_self(), thread_id, &type) != KERN_SUCCESS) return false;
  return (type & MACH_PORT_TYPE_DEAD_NAME) == 0;
}

}  // namespace hakozuna::os
