// Variables that every thread has its own of, readable in malloc's fast path.
//
//   extern constinit HAKOZUNA_THREAD_LOCAL os::ThreadLocal<Heap*, &no_heap, struct ThreadHeapName> thread_heap;
//
// T is a pointer or fits one; kInitial is its value in a thread that has not written it, and is also written at the definition. Name is a type of
// the variable's own.
//
// Where the thread_local of C++ costs an instruction, this is it, under the initial-exec model. macOS and Windows have no such model: the first
// access of a thread goes through the loader or the compiler's emulation, and either may call malloc. There a variable is one of the system's own
// thread slots, read in place.
#pragma once

#if defined(__APPLE__) || defined(_WIN32)
#include "common/os/thread_slot.h"
#else

#define HAKOZUNA_THREAD_LOCAL thread_local __attribute__((tls_model("initial-exec"), visibility("hidden")))

namespace hakozuna::os {

template <class T, T kInitial, class Name>
using ThreadLocal = T;

}  // namespace hakozuna::os

#endif
