// The two functions of the C++ runtime that operator new needs.
//
// In ELF they are weak references, so that our libraries need no runtime: loaded into a C program they bring nothing with them. On macOS
// every process has libc++, which libSystem itself comes with.
#pragma once

#include <new>

namespace hakozuna::api {

// The handler the program has set with std::set_new_handler, null if none.
std::new_handler current_new_handler();

// Throws std::bad_alloc; one line on stderr and abort() where nothing can be thrown.
[[noreturn]] void throw_bad_alloc();

}  // namespace hakozuna::api
