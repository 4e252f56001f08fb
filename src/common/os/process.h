// What the system says of this process.
#pragma once

namespace hakozuna::os {

// Whether it runs with privileges that whoever started it does not have (setuid): its environment is not to be trusted then.
bool has_borrowed_privileges();

// "NAME=value" strings, null at the end; null where libc does not have them yet.
char** environment();

// A file of the same strings, each terminated, for that early time; null where the system has none.
const char* environment_file();

}  // namespace hakozuna::os
