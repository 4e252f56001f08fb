#include "common/os/process.h"

#include <sys/auxv.h>

extern "C" char** environ;

namespace hakozuna::os {

bool has_borrowed_privileges() { return getauxval(AT_SECURE) != 0; }

char** environment() { return environ; }

const char* environment_file() { return "/proc/self/environ"; }

}  // namespace hakozuna::os
