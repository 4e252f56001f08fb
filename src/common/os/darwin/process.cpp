#include "common/os/process.h"

#include <crt_externs.h>
#include <unistd.h>

namespace hakozuna::os {

bool has_borrowed_privileges() { return issetugid() != 0; }

char** environment() { return *_NSGetEnviron(); }  // a library cannot name `environ` itself

const char* environment_file() { return nullptr; }

}  // namespace hakozuna::os
