// Keeps the compiler from reasoning about a value. It knows what malloc and free mean: it drops
// pairs it finds useless and warns of the very mistakes that some tests make on purpose.
#pragma once

namespace hakozuna::test {

template <class T>
inline T opaque(T value) {
  asm volatile("" : "+r"(value) : : "memory");
  return value;
}

}  // namespace hakozuna::test
