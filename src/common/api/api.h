// Layer api: the front door. Every exported symbol, written once over the Line concept and compiled for each line.
//
//   malloc.cpp            malloc, calloc, free
//   realloc.cpp           realloc and its relatives: when a block stays and when it moves
//   posix/aligned.cpp     memalign, aligned_alloc, posix_memalign, valloc, pvalloc
//   sized.cpp             C23 free_sized, free_aligned_sized
//   operators.h           operator new and delete, as functions
//   new_failure.h         operator new when memory is out: the new-handler loop
//   cxx_runtime.h         the parts of the C++ runtime we use
//   posix/call_new_handler.cpp  a new-handler called where an exception must not get out
//   public_functions.cpp  hakozuna/hakozuna.h
//   */lifecycle.cpp       start, exit
//   front_door.h          what has to be done at the start for the functions to be called, and for forks to be seen
//   statistics.h          the statistics in all their forms
//   exit_report.h         the same at exit
//
// How the functions get in front of the system's depends on the format of the library; one of these folders is built:
//
//   elf/                  by having their names, and those of glibc and jemalloc; exports.txt lists them
//   mach_o/               by interposition and as the default malloc zone; interposed.txt and exports.txt list the names
//   pe/                   by redirecting the C runtimes of the process; exports.txt lists what can be linked
//
// posix/ has what the first two share: the functions that Windows does not have, and start and exit.
//
// The build defines HAKOZUNA_LINE_HEADER and HAKOZUNA_LINE_CLASS. A function that is another under a second name is, where the
// format has that, an alias of it: one body, and the second name costs nothing.
#pragma once

#include <cstddef>

#include "common/core/line.h"

#include HAKOZUNA_LINE_HEADER

namespace hakozuna::api {

// The line this library serves.
using ServedLine = HAKOZUNA_LINE_CLASS;
static_assert(Line<ServedLine>);

}  // namespace hakozuna::api

// An exported function with C linkage, and one that replaces the C library's of the same name.
#if defined(_WIN32)
#define HAKOZUNA_EXPORT extern "C"  // the linker's list says what is exported
#else
#define HAKOZUNA_EXPORT extern "C" __attribute__((visibility("default")))
#endif
#if defined(__APPLE__)
#include "common/api/mach_o/replaced_names.h"
#else
#define HAKOZUNA_REPLACE HAKOZUNA_EXPORT
#endif

// One that is defined as another in the same file. Mach-O has no such thing.
#if defined(__ELF__)
#define HAKOZUNA_EXPORT_ALIAS(target) __attribute__((visibility("default"), alias(target)))
#elif defined(_WIN32)
#define HAKOZUNA_EXPORT_ALIAS(target) __attribute__((alias(target)))
#endif
