// Repeatable random numbers: the same seed gives the same test on every machine.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace hakozuna::test {

// splitmix64: passes the usual batteries, has one word of state and no bad seed.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  // 0..limit-1; the bias of the modulus is far below what a test could see.
  uint64_t below(uint64_t limit) { return next() % limit; }

  // low..high, both included.
  size_t between(size_t low, size_t high) { return low + below(high - low + 1); }

  // low..high with every power of two equally likely: what programs ask for looks more like this
  // than like a uniform draw. low > 0.
  size_t size_between(size_t low, size_t high) {
    const auto octaves = static_cast<uint64_t>(std::bit_width(high) - std::bit_width(low)) + 1;
    const size_t top =
        size_t{1} << (static_cast<unsigned>(std::bit_width(low)) - 1 + below(octaves));
    const size_t size = top + below(top);
    return size < low ? low : size > high ? high : size;
  }

  bool one_in(uint64_t n) { return below(n) == 0; }

 private:
  uint64_t state_;
};

}  // namespace hakozuna::test
