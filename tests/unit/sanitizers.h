// Which sanitizer this is built under, for the few tests that one of them cannot run: a limit on the address space leaves no room
// for its shadow, and ThreadSanitizer ends a child that was forked from a process of several threads and starts one.
#pragma once

namespace hakozuna::test {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kAddressSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false;
#endif

#if defined(__SANITIZE_THREAD__)
inline constexpr bool kThreadSanitizer = true;
#else
inline constexpr bool kThreadSanitizer = false;
#endif

inline constexpr bool kSanitizer = kAddressSanitizer || kThreadSanitizer;

}  // namespace hakozuna::test
