// hakozuna.exe: runs a program on one of the allocators of this project.
//
//   hakozuna run [--line NAME] [--stats[=text|json]] [--on-error abort|report|ignore] [--option NAME=VALUE]... -- program arguments...
//   hakozuna list
//
// The words and exit codes are those of the command on other systems, which has more of them.
#include <windows.h>

#include <cstdio>
#include <string>
#include <vector>

#include "hakozuna/hakozuna.h"
#include "launcher/windows/failure.h"
#include "launcher/windows/injection.h"

namespace hakozuna::launcher {

int fail(int exit_code, const std::wstring& message) {
  std::fprintf(stderr, "hakozuna: %ls\n", message.c_str());
  return exit_code;
}

namespace {

constexpr const wchar_t* kPrefix = L"HAKOZUNA_";
constexpr const char* kHelp =
    "Run programs on a drop-in malloc replacement, without rebuilding them.\n\n"
    "  hakozuna run [options] -- program arguments...\n"
    "  hakozuna list                  the allocators there are\n\n"
    "Options of run:\n"
    "  --line NAME                    the allocator to use; hz8 if not given\n"
    "  --stats[=text|json]            print the allocator's statistics when the program exits\n"
    "  --on-error abort|report|ignore what a bad free does\n"
    "  --option NAME=VALUE            any other option, as in PURGE_DELAY_MS=100\n\n"
    "Exit codes: the program's own; 127 if it is not found, 126 if it cannot be executed or is not a 64-bit program,\n"
    "125 if there is no such allocator or the program does not load it, 2 for bad arguments.\n";

// The libraries are beside the command.
std::wstring own_folder() {
  wchar_t path[32768];
  const DWORD length = GetModuleFileNameW(nullptr, path, sizeof path / sizeof path[0]);
  const std::wstring whole(path, length);
  return whole.substr(0, whole.find_last_of(L"\\/") + 1);
}

std::wstring library_of(const std::wstring& line) { return own_folder() + L"hakozuna_" + line + L".dll"; }

int list() {
  WIN32_FIND_DATAW found;
  const HANDLE search = FindFirstFileW(library_of(L"*").c_str(), &found);
  if (search == INVALID_HANDLE_VALUE) return fail(1, L"there is no library in " + own_folder());
  do {
    const std::wstring name = found.cFileName;
    const size_t begin = name.find(L'_') + 1;
    std::printf("%ls\n", name.substr(begin, name.rfind(L'.') - begin).c_str());
  } while (FindNextFileW(search, &found));
  FindClose(search);
  return 0;
}

// Takes the words up to "--"; what follows is the program's.
class RunWords {
 public:
  explicit RunWords(const std::vector<std::wstring>& words) : words_(words) {}

  // The exit code, or 0.
  int take() {
    for (; next_ < words_.size() && words_[next_] != L"--"; ++next_) {
      if (const int code = take_option(words_[next_])) return code;
    }
    if (next_ < words_.size()) program.assign(words_.begin() + static_cast<ptrdiff_t>(next_) + 1, words_.end());
    if (!program.empty()) return 0;
    return fail(kExitBadArguments, L"run: no program given; write -- before it, as in: hakozuna run -- program argument");
  }

  std::wstring line = L"hz8";
  std::vector<std::wstring> program;

 private:
  // The value of an option that is written as one word or two.
  bool value_of(const wchar_t* name, std::wstring& value) {
    const std::wstring& word = words_[next_];
    const std::wstring start = std::wstring(name) + L"=";
    if (word.compare(0, start.size(), start) == 0) {
      value = word.substr(start.size());
      return true;
    }
    if (word != name || next_ + 1 >= words_.size() || words_[next_ + 1] == L"--") return false;
    value = words_[++next_];
    return true;
  }

  int take_option(const std::wstring& word) {
    std::wstring value;
    if (value_of(L"--line", value)) {
      line = value;
    } else if (word == L"--stats" || word == L"--stats=text" || word == L"--stats=json") {
      set(L"STATS", word == L"--stats=json" ? L"json" : L"text");
    } else if (value_of(L"--on-error", value)) {
      if (value != L"abort" && value != L"report" && value != L"ignore") {
        return fail(kExitBadArguments, L"run: --on-error '" + value + L"': must be abort, report or ignore");
      }
      set(L"ON_ERROR", value);
    } else if (value_of(L"--option", value)) {
      const size_t equals = value.find(L'=');
      if (equals == value.npos || equals == 0) {
        return fail(kExitBadArguments, L"run: --option '" + value + L"' is not of the form NAME=VALUE, as in PURGE_DELAY_MS=100");
      }
      set(value.substr(0, equals), value.substr(equals + 1));
    } else {
      return fail(kExitBadArguments, L"run: '" + word + L"' is no option of it (see hakozuna --help)");
    }
    return 0;
  }

  // In our own environment, which the program inherits.
  static void set(std::wstring name, const std::wstring& value) {
    if (name.compare(0, std::wstring(kPrefix).size(), kPrefix) != 0) name = kPrefix + name;
    SetEnvironmentVariableW(name.c_str(), value.c_str());
  }

  const std::vector<std::wstring>& words_;
  size_t next_ = 1;  // behind "run"
};

int run(const std::vector<std::wstring>& words) {
  RunWords options(words);
  if (const int code = options.take()) return code;
  const std::wstring library = library_of(options.line);
  if (GetFileAttributesW(library.c_str()) == INVALID_FILE_ATTRIBUTES) {
    return fail(kExitCannotStart, L"there is no allocator '" + options.line + L"': " + library + L" is not found");
  }
  const std::wstring program = find_program(options.program[0]);
  if (program.empty()) return fail(kExitNotFound, options.program[0] + L": not found");
  return run_with_library(program, options.program, library);
}

int launch(const std::vector<std::wstring>& words) {
  const std::wstring command = words.empty() ? L"" : words[0];
  if (command == L"run") return run(words);
  if (command == L"list") return list();
  if (command == L"--help" || command == L"-h") return std::fputs(kHelp, stdout), 0;
  if (command == L"--version") {
    std::printf("hakozuna %d.%d.%d\n", HAKOZUNA_VERSION_MAJOR, HAKOZUNA_VERSION_MINOR, HAKOZUNA_VERSION_PATCH);
    return 0;
  }
  return fail(kExitBadArguments, L"there is no command '" + command + L"' (see hakozuna --help)");
}

}  // namespace
}  // namespace hakozuna::launcher

int wmain(int count, wchar_t** words) { return hakozuna::launcher::launch({words + (count > 0 ? 1 : 0), words + count}); }
