#include "common/core/option_messages.h"
#include "common/core/option_table.h"

namespace hakozuna::core {
namespace {

constexpr size_t kLongestShown = 48;
constexpr size_t kLongestName = 32;  // of those worth comparing with the known ones

using Line = FixedText<512>;

size_t smallest(size_t a, size_t b, size_t c) {
  const size_t ab = a < b ? a : b;
  return ab < c ? ab : c;
}

// How many letters must be inserted, removed or replaced to make one name of the other.
size_t distance(std::string_view from, std::string_view to) {
  size_t row[kLongestName + 1];  // row[j]: from the first i letters to the first j
  for (size_t j = 0; j <= to.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= from.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= to.size(); ++j) {
      const size_t replaced = diagonal + (from.data()[i - 1] == to.data()[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = smallest(replaced, row[j] + 1, row[j - 1] + 1);
    }
  }
  return row[to.size()];
}

void complain_of_value(const Setting& setting, const Option& option, int fd) {
  Line line;
  line.text("hakozuna: ").text(kOptionPrefix).text(setting.name).text("=\"");
  line.escaped(setting.value, kLongestShown).text("\": must be ");
  write_range(line, option);
  line.text("; using ");
  write_value(line, option, option.default_value);
  line.write_line(fd);
}

void complain_of_name(const Setting& setting, int fd) {
  Line line;
  line.text("hakozuna: unknown option ").text(kOptionPrefix).escaped(setting.name, kLongestShown);
  const std::string_view nearest = nearest_name(setting.name);
  if (nearest.empty()) {
    line.text("; HAKOZUNA_HELP=1 lists those there are");
  } else {
    line.text("; did you mean ").text(kOptionPrefix).text(nearest).text("?");
  }
  line.write_line(fd);
}

}  // namespace

std::string_view nearest_name(std::string_view name) {
  if (name.size() > kLongestName) return {};
  std::string_view nearest;
  size_t least = (name.size() < 6 ? 2 : name.size() / 3) + 1;
  const auto consider = [&](std::string_view known) {
    const size_t changes = distance(name, known);
    if (changes >= least) return;
    least = changes;
    nearest = known;
  };
  for (const Option& option : option_table) consider(option.name);
  for (const OtherVariable& variable : other_variables) consider(variable.name);
  return nearest;
}

bool complain_about(Environment& environment, int fd) {
  bool help = false;
  Setting setting;
  while (environment.next(setting)) {
    if (const Option* const option = find_option(setting.name)) {
      uint64_t value;
      if (!setting.value.empty() && !parse_value(*option, setting.value, value)) {
        complain_of_value(setting, *option, fd);
      }
    } else if (setting.name == kHelpVariable) {
      if (!setting.value.empty() && !parse_boolean(setting.value, help)) help = true;
    } else if (!is_other_variable(setting.name)) {
      complain_of_name(setting, fd);
    }
  }
  return help;
}

}  // namespace hakozuna::core
