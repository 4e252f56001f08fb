#include "launcher/windows/command_line.h"

namespace hakozuna::launcher {
namespace {

void append_quoted(std::wstring& line, const std::wstring& word) {
  if (!word.empty() && word.find_first_of(L" \t\n\v\"") == word.npos) {
    line += word;
    return;
  }
  line += L'"';
  size_t backslashes = 0;  // seen last, and doubled if a quotation mark follows: one of the word, or the closing one
  for (const wchar_t letter : word) {
    if (letter == L'\\') {
      ++backslashes;
      line += letter;
      continue;
    }
    if (letter == L'"') line.append(backslashes + 1, L'\\');
    backslashes = 0;
    line += letter;
  }
  line.append(backslashes, L'\\');
  line += L'"';
}

}  // namespace

std::wstring join_arguments(const std::vector<std::wstring>& words) {
  std::wstring line;
  for (const std::wstring& word : words) {
    if (!line.empty()) line += L' ';
    append_quoted(line, word);
  }
  return line;
}

}  // namespace hakozuna::launcher
