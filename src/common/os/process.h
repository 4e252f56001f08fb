// What the system says of this process.
#pragma once

#include <cstdint>

namespace hakozuna::os {

// Whether it runs with privileges that whoever started it does not have (setuid): its environment is not to be trusted then.
bool has_borrowed_privileges();

// "NAME=value" strings, null at the end, at least those whose name starts with HAKOZUNA_; null where libc does not have them yet. Asked once.
char** environment();

// A file of the same strings, each terminated, for that early time; null where the system has none.
const char* environment_file();

// Of the process since its start: served from memory, and from a file or device. Minor has both where the system does not tell them apart.
struct PageFaults {
  uint64_t minor = 0;
  uint64_t major = 0;
};
PageFaults page_faults();

}  // namespace hakozuna::os
