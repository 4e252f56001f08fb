#include "common/os/process.h"

#include <sys/resource.h>

namespace hakozuna::os {

PageFaults page_faults() {
  rusage usage;
  if (getrusage(RUSAGE_SELF, &usage) != 0) return {};
  return {static_cast<uint64_t>(usage.ru_minflt), static_cast<uint64_t>(usage.ru_majflt)};
}

}  // namespace hakozuna::os
