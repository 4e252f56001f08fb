// operator new when the line has no memory: ask the program's new-handler for some, until there is enough or no handler.
#pragma once

#include <cstddef>
#include <new>

namespace hakozuna::api {

// An alignment that is no power of two fails without asking the handler.
[[gnu::cold, gnu::noinline]] void* new_after_failure(size_t size, size_t alignment);  // throws
[[gnu::cold, gnu::noinline]] void* new_after_failure_nothrow(size_t size, size_t alignment) noexcept;

// Calls `handler`; false if it threw.
bool call_new_handler(std::new_handler handler) noexcept;

}  // namespace hakozuna::api
