// Layer api: the front door. Every exported symbol, written once over the Line concept and compiled for each line.
//
//   exports.txt           the list of all exported names
//   malloc.cpp            malloc, calloc, free
//   realloc.cpp           realloc and its relatives: when a block stays and when it moves
//   aligned.cpp           memalign, aligned_alloc, posix_memalign, valloc, pvalloc
//   sized.cpp             C23 free_sized, free_aligned_sized
//   operators.cpp         operator new and delete
//   new_failure.h         operator new when memory is out: the new-handler loop
//   cxx_runtime.h         the parts of the C++ runtime we use, if the program has one
//   call_new_handler.cpp  a new-handler called where an exception must not get out
//   glibc_extras.cpp      malloc_usable_size, malloc_trim, mallinfo, mallopt, malloc_info, malloc_stats
//   jemalloc_controls.cpp mallctl, as far as it asks for memory to be returned
//   public_functions.cpp  hakozuna/hakozuna.h
//   lifecycle.cpp         start, fork, exit
//   statistics.h          the statistics in all their forms
//   exit_report.h         the same at exit
//
// The build defines HAKOZUNA_LINE_HEADER and HAKOZUNA_LINE_CLASS. A function that is another under a second name is an alias of it: one
// body, and the second name costs nothing.
#pragma once

#include <cstddef>

#include "common/core/line.h"

#include HAKOZUNA_LINE_HEADER

namespace hakozuna::api {

// The line this library serves.
using ServedLine = HAKOZUNA_LINE_CLASS;
static_assert(Line<ServedLine>);

}  // namespace hakozuna::api

// An exported function with C linkage, and one that is defined as another in the same file. What a Windows library exports is in
// windows/exports.txt.
#if defined(_WIN32)
#define HAKOZUNA_EXPORT extern "C"
#define HAKOZUNA_EXPORT_ALIAS(target) __attribute__((alias(target)))
#else
#define HAKOZUNA_EXPORT extern "C" __attribute__((visibility("default")))
#define HAKOZUNA_EXPORT_ALIAS(target) __attribute__((visibility("default"), alias(target)))
#endif
