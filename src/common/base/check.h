// Invariants that a checked build verifies at run time: HAKOZUNA_CHECK(condition, "what always
// holds").
//
// Otherwise nothing is evaluated, but the condition is still compiled: it cannot rot, and what only
// it uses is not reported as unused. A condition has no side effects.
#pragma once

namespace hakozuna {

// Writes `hakozuna: invariant broken: <message> at <file>:<line>` to standard error and aborts.
// Allocates nothing and takes no lock.
[[noreturn, gnu::cold, gnu::noinline]] void check_failed(const char* message, const char* file,
                                                         int line) noexcept;

}  // namespace hakozuna

#if defined(HAKOZUNA_CHECKED) && HAKOZUNA_CHECKED
#define HAKOZUNA_CHECK(condition, message)             \
  (static_cast<bool>(condition) ? static_cast<void>(0) \
                                : ::hakozuna::check_failed(message, __FILE__, __LINE__))
#else
#define HAKOZUNA_CHECK(condition, message) \
  static_cast<void>(sizeof(static_cast<bool>(condition)) + sizeof(message))
#endif
