#include "common/core/option_table.h"

namespace hakozuna::core {
namespace {

// No value is longer. What is longer may have been cut on its way here (environment.h).
constexpr size_t kLongestValue = 64;

}  // namespace

const Option* find_option(std::string_view name) {
  for (const Option& option : option_table) {
    if (name == option.name) return &option;
  }
  return nullptr;
}

bool is_other_variable(std::string_view name) {
  for (const OtherVariable& variable : other_variables) {
    if (name == variable.name) return true;
  }
  return false;
}

bool parse_value(const Option& option, std::string_view text, uint64_t& value) {
  if (text.size() > kLongestValue) return false;
  switch (option.type) {
    case Option::Type::kNumber:
      return parse_unsigned(text, option.minimum, option.maximum, value);
    case Option::Type::kBytes:
      return parse_size(text, option.minimum, option.maximum, value);
    case Option::Type::kBoolean: {
      bool on;
      if (!parse_boolean(text, on)) return false;
      value = on ? 1 : 0;
      return true;
    }
    case Option::Type::kChoice:
      return parse_choice(text, option.choices, option.maximum + 1, value);
  }
  return false;
}

void write_value(TextWriter& out, const Option& option, uint64_t value) {
  switch (option.type) {
    case Option::Type::kNumber:
    case Option::Type::kBoolean:
      out.decimal(value);
      break;
    case Option::Type::kBytes:
      out.exact_bytes(value);
      break;
    case Option::Type::kChoice:
      out.text(option.choices[value]);
      break;
  }
}

void write_range(TextWriter& out, const Option& option) {
  switch (option.type) {
    case Option::Type::kNumber:
    case Option::Type::kBytes:
      write_value(out, option, option.minimum);
      out.text("..");
      write_value(out, option, option.maximum);
      break;
    case Option::Type::kBoolean:
      out.text("0 or 1");
      break;
    case Option::Type::kChoice:
      for (uint64_t i = 0; i <= option.maximum; ++i) {
        if (i != 0) out.text(i == option.maximum ? " or " : ", ");
        out.text(option.choices[i]);
      }
      break;
  }
}

}  // namespace hakozuna::core
