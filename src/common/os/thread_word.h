// A word of which every thread has its own: the thread's heap, and little else.
//
//   HAKOZUNA_DECLARE_THREAD_WORD(Type, name, initial)   in a header: `name` is used like a variable of the type
//   HAKOZUNA_DEFINE_THREAD_WORD(Type, name, initial)    in one file
//
// Reading it is in every malloc and free, and nothing about it may allocate. Where the loader lays out thread-local storage before a
// thread runs, it is a thread_local variable. On Windows compilers emulate those with malloc, or let the loader allocate them late: there it is
// a slot of the thread's environment block (os/windows/thread_slot.h).
#pragma once

#if defined(_WIN32)

#include "common/os/windows/thread_slot.h"

#define HAKOZUNA_DECLARE_THREAD_WORD(Type, name, initial) extern constinit ::hakozuna::os::ThreadSlot<Type, initial> name
#define HAKOZUNA_DEFINE_THREAD_WORD(Type, name, initial)       \
  constinit ::hakozuna::os::ThreadSlot<Type, initial> name;    \
  [[gnu::constructor(101)]] static void allocate_##name() { name.allocate(); } \
  static_assert(true)

#else

#define HAKOZUNA_DECLARE_THREAD_WORD(Type, name, initial) \
  [[gnu::tls_model("initial-exec"), gnu::visibility("hidden")]] extern constinit thread_local Type name
#define HAKOZUNA_DEFINE_THREAD_WORD(Type, name, initial) constinit thread_local Type name = initial

#endif
