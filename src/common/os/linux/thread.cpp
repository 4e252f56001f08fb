#include "common/os/thread.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace hakozuna::os {

uint32_t thread_id() { return static_cast<uint32_t>(syscall(SYS_gettid)); }

bool thread_exists(uint32_t thread_id) {
  const int saved_errno = errno;
  const bool gone = syscall(SYS_tgkill, getpid(), thread_id, 0) != 0 && errno == ESRCH;
  errno = saved_errno;
  return !gone;
}

}  // namespace hakozuna::os
