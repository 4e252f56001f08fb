// Arithmetic on bits, sizes and alignments. Everything is constexpr and total for the stated ranges.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace hakozuna {

constexpr bool is_power_of_two(uint64_t value) { return std::has_single_bit(value); }

// Rounds to a multiple of `alignment`, a power of two. align_up() wraps to 0 for values within `alignment` of the maximum.
constexpr uint64_t align_down(uint64_t value, uint64_t alignment) { return value & ~(alignment - 1); }
constexpr uint64_t align_up(uint64_t value, uint64_t alignment) {
  return align_down(value + alignment - 1, alignment);
}
constexpr bool is_aligned(uint64_t value, uint64_t alignment) {
  return (value & (alignment - 1)) == 0;
}

template <class T>
T* align_up(T* pointer, uint64_t alignment) {
  return reinterpret_cast<T*>(align_up(reinterpret_cast<uintptr_t>(pointer), alignment));
}

constexpr uint64_t divide_up(uint64_t value, uint64_t divisor) {
  return (value + divisor - 1) / divisor;
}

// Index of the lowest set bit. `word` is not 0.
// (As 64 bits: multiplied by a slot size right away, where a 32-bit result would cost an extension.)
constexpr uint64_t lowest_bit(uint64_t word) { return static_cast<uint64_t>(std::countr_zero(word)); }

// floor(log2(value)). `value` is not 0.
constexpr uint32_t log2_floor(uint64_t value) { return static_cast<uint32_t>(63 - std::countl_zero(value)); }

// A word with the lowest `count` bits set; count in 0..64.
constexpr uint64_t low_bits(uint32_t count) {
  return count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
}

// A word with the bits [first, last] set; 0 <= first <= last <= 63.
constexpr uint64_t bit_range(uint32_t first, uint32_t last) {
  return low_bits(last + 1) & ~low_bits(first);
}

}  // namespace hakozuna
