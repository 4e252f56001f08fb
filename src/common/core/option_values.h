// The present values of the options: what options.h has one of, and a test as many as it likes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "common/core/environment.h"
#include "common/core/option_table.h"

namespace hakozuna::core {

class OptionValues {
  // Before its use: Clang 14 does not look ahead.
  template <size_t... kIndex>
  constexpr explicit OptionValues(std::index_sequence<kIndex...>)
      : values_{option_table[kIndex].default_value...} {}

 public:
  // All are the defaults.
  constexpr OptionValues() : OptionValues(std::make_index_sequence<kOptionCount>()) {}

  uint64_t get(OptionId id) const {
    // relaxed: each value stands for itself
    return values_[static_cast<size_t>(id)].load(std::memory_order_relaxed);
  }

  // Takes over the good values of an environment, the first where a name comes twice; the bad ones
  // leave the default. Threads may do this at the same time with the same environment.
  void read(Environment& environment);

  // As hakozuna_option_set/get.
  int set(const char* name, const char* value);
  int get(const char* name, char* buffer, size_t capacity) const;

 private:
  std::atomic<uint64_t> values_[kOptionCount];
};

}  // namespace hakozuna::core
