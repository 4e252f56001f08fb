#include "common/core/option_values.h"

#include <errno.h>

namespace hakozuna::core {
namespace {

// With or without the prefix; null if there is none of that name.
const Option* find_named_option(const char* name) {
  if (!name) return nullptr;
  const std::string_view given = name;
  if (const Option* const option = find_option(given)) return option;
  const size_t prefix_bytes = kOptionPrefix.size();
  if (given.size() < prefix_bytes) return nullptr;
  if (std::string_view(given.data(), prefix_bytes) != kOptionPrefix) return nullptr;
  return find_option({given.data() + prefix_bytes, given.size() - prefix_bytes});
}

size_t index_of(const Option& option) { return static_cast<size_t>(&option - option_table); }

}  // namespace

void OptionValues::read(Environment& environment) {
  uint64_t found[kOptionCount];
  bool seen[kOptionCount] = {};
  Setting setting;
  while (environment.next(setting)) {
    const Option* const option = find_option(setting.name);
    if (!option || seen[index_of(*option)] || setting.value.empty()) continue;
    seen[index_of(*option)] = parse_value(*option, setting.value, found[index_of(*option)]);
  }
  for (const Option& option : option_table) {
    if (!seen[index_of(option)]) continue;
    // Only in place of the default: another thread that began when this one did may have finished
    // long ago, and the program may have set another value since.
    uint64_t expected = option.default_value;
    values_[index_of(option)].compare_exchange_strong(expected, found[index_of(option)],
                                                      std::memory_order_relaxed);
  }
}

int OptionValues::set(const char* name, const char* value) {
  const Option* const option = find_named_option(name);
  if (!option) return ENOENT;
  if (!option->changeable) return EPERM;
  uint64_t parsed;
  if (!value || !parse_value(*option, value, parsed)) return EINVAL;
  values_[index_of(*option)].store(parsed, std::memory_order_relaxed);
  return 0;
}

int OptionValues::get(const char* name, char* buffer, size_t capacity) const {
  const Option* const option = find_named_option(name);
  if (!option) return ENOENT;
  TextWriter out(buffer, capacity);
  write_value(out, *option, values_[index_of(*option)].load(std::memory_order_relaxed));
  return out.length() < capacity ? 0 : ERANGE;
}

}  // namespace hakozuna::core
