// The table of the options: all there is to know about each. The parser, the help, docs/options.md
// and the run-time interface are made from it; a new option is one entry here and one accessor in
// options.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/base/text.h"

namespace hakozuna::core {

inline constexpr std::string_view kOptionPrefix = "HAKOZUNA_";

// Index into the table.
enum class OptionId : uint8_t {
  kOnError,
  kStats,
  kPurgeDelayMs,
  kRetain,
  kBackground,
  kHugePages,
  kLimit,
  kLargeCache,
};
inline constexpr size_t kOptionCount = 8;

struct Option {
  enum class Type : uint8_t { kNumber, kBytes, kBoolean, kChoice };

  const char* name;  // without the prefix
  Type type;
  bool changeable;         // at run time; otherwise only in the environment
  uint64_t default_value;  // a choice is its index
  uint64_t minimum;
  uint64_t maximum;
  const char* const* choices;  // maximum + 1 of them, for kChoice only
  const char* help;            // one sentence or two, without the final full stop
};

inline constexpr uint64_t kMiB = uint64_t{1} << 20;
inline constexpr uint64_t kTiB = uint64_t{1} << 40;

inline constexpr const char* kOnErrorChoices[] = {"abort", "report", "ignore"};
inline constexpr const char* kStatsChoices[] = {"off", "text", "json"};
inline constexpr const char* kHugePagesChoices[] = {"never", "auto", "always"};

// In the order of OptionId.
inline constexpr Option option_table[kOptionCount] = {
    {"ON_ERROR", Option::Type::kChoice, true, 0, 0, 2, kOnErrorChoices,
     "What a bad free does: abort with one line that says what was wrong, report it by the same "
     "line and go on, or ignore it and only count it"},
    {"STATS", Option::Type::kChoice, false, 0, 0, 2, kStatsChoices,
     "Print the statistics to standard error when the program exits, as a table (text) or as one "
     "line of JSON"},
    {"PURGE_DELAY_MS", Option::Type::kNumber, true, 500, 0, 60000, nullptr,
     "How many milliseconds free memory stays resident for reuse before it is given back to the "
     "system. 0 gives it back at the next occasion"},
    {"RETAIN", Option::Type::kBytes, true, kMiB / 2, 0, kTiB, nullptr,
     "How much free memory stays resident for ever"},
    {"BACKGROUND", Option::Type::kBoolean, false, 0, 0, 1, nullptr,
     "Start a thread that gives free memory back also while no thread of the program allocates"},
    {"HUGE_PAGES", Option::Type::kChoice, false, 0, 0, 2, kHugePagesChoices,
     "Ask the system for huge pages: never, for large blocks of 8 MiB and more (auto), or for all "
     "large blocks. Faster on large heaps, at the price of resident memory"},
    {"LIMIT", Option::Type::kBytes, true, 0, 0, 256 * kTiB, nullptr,
     "Allocation fails with ENOMEM when more than this would be mapped. 0 is no limit. Freed memory "
     "of blocks below 512 KiB stays mapped, for reuse, also when it has been given back"},
    {"LARGE_CACHE", Option::Type::kBytes, true, 64 * kMiB, 0, kTiB, nullptr,
     "How much memory of freed large blocks may be kept for reuse"},
};

// Variables that begin with the prefix and belong to others, or to no option.
struct OtherVariable {
  const char* name;  // without the prefix
  const char* help;
};
inline constexpr std::string_view kHelpVariable = "HELP";
inline constexpr size_t kOtherVariableCount = 2;
inline constexpr OtherVariable other_variables[kOtherVariableCount] = {
    {"HELP", "1 prints this list to standard error when the program starts"},
    {"LIBRARY_DIR", "Read by the hakozuna command: where it looks for the libraries first"},
};

// Null if there is none of that name, given without the prefix.
const Option* find_option(std::string_view name);
bool is_other_variable(std::string_view name);

// False, and `value` is as it was, if `text` is no value of the option.
bool parse_value(const Option& option, std::string_view text, uint64_t& value);

// A value as parse_value() reads it.
void write_value(TextWriter& out, const Option& option, uint64_t value);

// Which values there are: "0..60000", "0..1TiB", "0 or 1", "abort, report or ignore".
void write_range(TextWriter& out, const Option& option);

}  // namespace hakozuna::core
