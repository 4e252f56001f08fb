// Contents that a block can be recognised by: any other block's contents, a shifted copy or a
// cleared page all differ.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace hakozuna::test {

namespace detail {
inline uint64_t pattern_word(uint64_t seed, size_t index) {
  return (seed + index) * 0x9e3779b97f4a7c15u ^ seed;
}
}  // namespace detail

// Fills `size` bytes. A longer fill with the same seed begins with the same bytes, so that realloc
// can be checked.
inline void fill_pattern(void* block, size_t size, uint64_t seed) {
  auto* bytes = static_cast<unsigned char*>(block);
  size_t offset = 0;
  for (; offset + 8 <= size; offset += 8) {
    const uint64_t word = detail::pattern_word(seed, offset / 8);
    std::memcpy(bytes + offset, &word, 8);
  }
  const uint64_t word = detail::pattern_word(seed, offset / 8);
  if (offset < size) std::memcpy(bytes + offset, &word, size - offset);
}

inline bool has_pattern(const void* block, size_t size, uint64_t seed) {
  const auto* bytes = static_cast<const unsigned char*>(block);
  size_t offset = 0;
  uint64_t difference = 0;
  for (; offset + 8 <= size; offset += 8) {
    uint64_t word;
    std::memcpy(&word, bytes + offset, 8);
    difference |= word ^ detail::pattern_word(seed, offset / 8);
  }
  const uint64_t word = detail::pattern_word(seed, offset / 8);
  return difference == 0 &&
         (offset == size || std::memcmp(bytes + offset, &word, size - offset) == 0);
}

// The same for blocks too large to write whole: the first and last 256 bytes and one word in each 4
// KiB between.
inline void fill_sparse(void* block, size_t size, uint64_t seed) {
  auto* bytes = static_cast<unsigned char*>(block);
  if (size <= 16384) return fill_pattern(block, size, seed);
  for (size_t offset = 4096; offset + 8 <= size; offset += 4096) {
    const uint64_t word = detail::pattern_word(seed, offset);
    std::memcpy(bytes + offset, &word, 8);
  }
  fill_pattern(bytes, 256, seed);
  fill_pattern(bytes + size - 256, 256, seed);
}

// Looks at the first `kept` bytes of what fill_sparse(block, size, seed) wrote: after a realloc the
// rest may be gone.
inline bool has_sparse(const void* block, size_t size, uint64_t seed, size_t kept) {
  const auto* bytes = static_cast<const unsigned char*>(block);
  if (size <= 16384) return has_pattern(block, kept, seed);
  // The tail was written last and may lie over the last word of the grid.
  const size_t grid_end = kept < size - 256 ? kept : size - 256;
  for (size_t offset = 4096; offset + 8 <= grid_end; offset += 4096) {
    const uint64_t expected = detail::pattern_word(seed, offset);
    if (std::memcmp(bytes + offset, &expected, 8) != 0) return false;
  }
  if (!has_pattern(bytes, kept < 256 ? kept : 256, seed)) return false;
  return kept < size || has_pattern(bytes + size - 256, 256, seed);
}
inline bool has_sparse(const void* block, size_t size, uint64_t seed) {
  return has_sparse(block, size, seed, size);
}

inline bool is_zero(const void* block, size_t size) {
  const auto* bytes = static_cast<const unsigned char*>(block);
  return size == 0 || (bytes[0] == 0 && std::memcmp(bytes, bytes + 1, size - 1) == 0);
}

}  // namespace hakozuna::test
