#include "common/core/option_messages.h"
#include "common/core/option_table.h"

namespace hakozuna::core {
namespace {

constexpr size_t kHelpIndent = 6;
constexpr size_t kHelpWidth = 78;

// A paragraph, indented, broken between words.
void write_wrapped(TextWriter& out, std::string_view paragraph) {
  size_t column = 0;
  const char* word = paragraph.data();
  const char* const end = word + paragraph.size();
  while (word < end) {
    const char* word_end = word;
    while (word_end < end && *word_end != ' ') ++word_end;
    const size_t length = static_cast<size_t>(word_end - word);
    if (column != 0 && column + 1 + length > kHelpWidth) {
      out.text("\n");
      column = 0;
    }
    if (column == 0) {
      out.repeat(' ', kHelpIndent);
      column = kHelpIndent;
    } else {
      out.text(" ");
      ++column;
    }
    out.text({word, length});
    column += length;
    word = word_end + 1;
  }
  out.text("\n");
}

void write_option_help(TextWriter& out, const Option& option) {
  out.text("  ").text(kOptionPrefix).text(option.name).text("=");
  write_range(out, option);
  out.text("  (default ");
  write_value(out, option, option.default_value);
  out.text(")\n");
  write_wrapped(out, option.help);
}

void write_option_row(TextWriter& out, const Option& option) {
  out.text("| `").text(kOptionPrefix).text(option.name).text("` | ");
  write_range(out, option);
  out.text(" | ");
  write_value(out, option, option.default_value);
  out.text(option.changeable ? " | yes | " : " | no | ").text(option.help).text(". |\n");
}

}  // namespace

void write_help(TextWriter& out) {
  out.text("hakozuna: the options, read from the environment when the program starts\n\n");
  for (const Option& option : option_table) write_option_help(out, option);
  out.text("\nOther variables\n\n");
  for (const OtherVariable& variable : other_variables) {
    out.text("  ").text(kOptionPrefix).text(variable.name).text("\n");
    write_wrapped(out, variable.help);
  }
  out.text("\nSizes are in bytes, or with a unit of powers of 1024: 64K or 64KiB, 1M, 1G, 1T.\n\n");
}

void write_markdown(TextWriter& out) {
  out.text(
      "<!-- Made from the table in src/common/core/option_table.h; a test compares the two. To "
      "make "
      "it again:\n"
      "     UPDATE_DOCUMENTS=1 build/debug/bin/unit_tests --gtest_filter='OptionsDocument.*' -->\n"
      "# Options\n"
      "\n"
      "Options are variables of the environment, read when the program starts:\n"
      "\n"
      "    HAKOZUNA_PURGE_DELAY_MS=100 HAKOZUNA_STATS=text hakozuna run -- ./server\n"
      "\n"
      "A bad value or an unknown name is one line on standard error, and the default is used. An "
      "empty value is as\n"
      "none. A program that runs with privileges its user does not have (setuid) reads no options. "
      "Those marked \"yes\"\n"
      "can also be set while the program runs, by `hakozuna_option_set()` of "
      "`hakozuna/hakozuna.h`.\n"
      "\n"
      "Sizes are in bytes, or with a unit of powers of 1024: `64K`, `64KiB`, `1M`, `1MiB`, `1G`, "
      "`1T`. For 0 and 1,\n"
      "`no` and `yes`, `false` and `true`, `off` and `on` will do.\n"
      "\n"
      "| option | values | default | at run time | what it does |\n"
      "|---|---|---|---|---|\n");
  for (const Option& option : option_table) write_option_row(out, option);
  out.text("\n| other variable | what it does |\n|---|---|\n");
  for (const OtherVariable& variable : other_variables) {
    out.text("| `").text(kOptionPrefix).text(variable.name).text("` | ");
    out.text(variable.help).text(". |\n");
  }
}

}  // namespace hakozuna::core
