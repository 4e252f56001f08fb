// A pipe, as the tests use it.
#pragma once
#pragma GCC system_header

#include_next <unistd.h>

#include <fcntl.h>
#include <io.h>

inline int pipe(int* ends) { return _pipe(ends, 1 << 16, _O_BINARY); }
