#include "launcher/diagnosis.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "launcher/elf_file.h"
#include "launcher/lines.h"
#include "launcher/secure_execution.h"

namespace hakozuna::launcher {

namespace fs = std::filesystem;

namespace {

constexpr const char* kLinkInstead =
    "rebuild it dynamically linked, or link it with libhakozuna_<line>.a before the C library";

struct OwnName {
  std::string_view function;
  std::string_view allocator;
};

// Names by which a program calls a particular allocator, so that replacing malloc does not reach
// those calls.
constexpr auto kOwnNames = std::to_array<OwnName>({
    {"mi_malloc", "mimalloc"},
    {"mi_calloc", "mimalloc"},
    {"mi_zalloc", "mimalloc"},
    {"mi_realloc", "mimalloc"},
    {"mi_malloc_aligned", "mimalloc"},
    {"mi_heap_malloc", "mimalloc"},
    {"mi_new", "mimalloc"},
    {"je_malloc", "jemalloc"},
    {"je_calloc", "jemalloc"},
    {"je_mallocx", "jemalloc"},
    {"mallocx", "jemalloc"},
    {"_rjem_malloc", "jemalloc"},
    {"_rjem_mallocx", "jemalloc"},
    {"tc_malloc", "tcmalloc"},
    {"tc_calloc", "tcmalloc"},
    {"tc_new", "tcmalloc"},
});

bool is_glibc_loader(const std::string& loader) {
  const std::string file = fs::path(loader).filename().string();
  return file.starts_with("ld-linux") || file.starts_with("ld64.so") || file == "ld.so.1";
}

void examine_loader(const std::string& loader, std::vector<Problem>& problems) {
  const std::string file = fs::path(loader).filename().string();
  if (file.starts_with("ld-musl")) {
    problems.push_back({"it runs on musl (its loader is " + loader +
                            "), and the libraries here are built for glibc",
                        "use a build of the program for glibc (a Debian-based image instead of an "
                        "Alpine-based one)"});
  } else if (!is_glibc_loader(loader)) {
    problems.push_back(
        {"its loader " + loader + " is not glibc's", "use a build of the program for glibc"});
  } else if (!fs::exists(loader)) {
    problems.push_back(
        {"its loader " + loader + " is not on this system, so it cannot start at all",
         "install the C library it was built for"});
  }
}

void examine_secure_start(const fs::path& path, Diagnosis& diagnosis) {
  const SecureExecution secure = examine_secure_execution(path);
  if (secure.applies) {
    diagnosis.problems.push_back(
        {secure.why + ": the loader ignores LD_PRELOAD in a program that gains privileges",
         "link the program with the library, or let a service manager grant the privileges "
         "(systemd: User= and AmbientCapabilities=) to a copy without them"});
  } else if (!secure.why.empty()) {
    diagnosis.notes.push_back(secure.why +
                              "; started by you it gains no privileges, so it can be served; "
                              "started by others the loader ignores LD_PRELOAD");
  }
}

// A sanitizer replaces malloc itself and ends the program if another library was there first.
void examine_sanitizer(const ElfFile& file, std::vector<Problem>& problems) {
  constexpr std::array<std::string_view, 4> runtimes = {"libasan", "libhwasan", "liblsan",
                                                        "libtsan"};
  for (const std::string& needed : file.needed) {
    const bool sanitizer = std::any_of(runtimes.begin(), runtimes.end(),
                                       [&](auto runtime) { return needed.starts_with(runtime); });
    if (!sanitizer) continue;
    problems.push_back({"it is built with a sanitizer (" + needed +
                            "), which brings its own malloc and refuses to come second",
                        "use a build without -fsanitize"});
    return;
  }
}

void examine_own_allocator(const ElfFile& file, Diagnosis& diagnosis) {
  for (const char* function : {"malloc", "free"}) {
    if (!file.exported_functions.contains(function)) continue;
    diagnosis.problems.push_back(
        {std::string("it defines ") + function +
             " itself, and the loader prefers a program's own functions to a preloaded library's",
         "build it without that allocator (many projects have a switch such as MALLOC=libc)"});
    return;
  }
  for (const auto& [function, allocator] : kOwnNames) {
    const std::string name(function);
    const bool defined =
        file.exported_functions.contains(name) || file.local_functions.contains(name);
    if (!defined && !file.imported_symbols.contains(name)) continue;
    diagnosis.problems.push_back(
        {(defined ? "it carries " : "it is linked with ") + std::string(allocator) +
             " and calls it by names of its own (" + name + "), which no other malloc replaces",
         "build it to use malloc (many projects have a switch such as MALLOC=libc)"});
    return;
  }
}

void examine_binary(const fs::path& path, Diagnosis& diagnosis) {
  const ElfFile file = read_elf(path);
  switch (file.kind) {
    case ElfKind::kUnreadable:
      diagnosis.problems.push_back(
          {"its file may be run but not read, so nothing can be told about it",
           "run doctor as a user who may read " + path.string()});
      return;
    case ElfKind::kNotElf:
      diagnosis.problems.push_back({"its file is neither an ELF binary nor a script",
                                    "check that the right file was named"});
      return;
    case ElfKind::kDamaged:
      diagnosis.problems.push_back(
          {"its file is a damaged ELF binary", "build or install it again"});
      return;
    case ElfKind::kForeign:
      diagnosis.problems.push_back({"it is a binary for " + file.machine +
                                        ", and the libraries here are for " + native_machine(),
                                    "use a build of the program for " + native_machine() +
                                        ", or build the libraries for " + file.machine});
      return;
    case ElfKind::kNative:
      break;
  }

  if (file.interpreter.empty()) {
    diagnosis.problems.push_back(
        {"it is a static binary: no dynamic loader runs, so nothing can be preloaded",
         kLinkInstead});
    return;
  }
  diagnosis.loader = file.interpreter;
  examine_loader(file.interpreter, diagnosis.problems);
  examine_secure_start(path, diagnosis);
  examine_sanitizer(file, diagnosis.problems);
  examine_own_allocator(file, diagnosis);
}

}  // namespace

std::string allocator_in_library(const std::string& library_name) {
  constexpr std::array<std::string_view, 6> allocators = {"jemalloc", "tcmalloc", "mimalloc",
                                                          "snmalloc", "rpmalloc", "tbbmalloc"};
  const std::string file = fs::path(library_name).filename().string();
  const auto match = std::find_if(allocators.begin(), allocators.end(), [&](auto allocator) {
    return file.starts_with("lib" + std::string(allocator));
  });
  return match == allocators.end() ? std::string() : std::string(*match);
}

Diagnosis diagnose_program(const std::string& name) {
  Diagnosis diagnosis;
  diagnosis.program = resolve_program(name);
  const ResolvedProgram& program = diagnosis.program;
  const bool script = !program.scripts.empty();
  const std::string subject = script ? "its interpreter '" + program.name + "'" : "'" + name + "'";

  if (program.clears_environment) {
    diagnosis.problems.push_back({"its #! line starts it by env -i, which removes LD_PRELOAD",
                                  "take -i out of the #! line, or start the interpreter yourself"});
  }
  if (program.too_deep) {
    diagnosis.problems.push_back(
        {"it is a script run by a script run by a script, without an end", "check the #! lines"});
    return diagnosis;
  }
  switch (program.file.found) {
    case Found::kMissing:
      diagnosis.problems.push_back(
          {subject + " is not found" +
               (program.name.find('/') == std::string::npos ? " in any directory of PATH" : ""),
           "check the name, or give the whole path"});
      break;
    case Found::kNotExecutable:
      diagnosis.problems.push_back(
          {subject + " (" + program.file.path.string() + ") is not a file you may execute",
           "check the name and its permissions (chmod +x)"});
      break;
    case Found::kYes:
      examine_binary(program.file.path, diagnosis);
      break;
  }
  return diagnosis;
}

std::vector<Problem> diagnose_library(const fs::path& library) {
  std::vector<Problem> problems;
  if (const auto obstacle = preload_obstacle(library)) {
    problems.push_back({*obstacle, "use a directory whose path has neither"});
  }
  const ElfFile file = read_elf(library);
  if (file.kind == ElfKind::kForeign) {
    problems.push_back({"the library " + library.string() + " is for " + file.machine +
                            ", this machine is " + native_machine(),
                        "build or install the libraries for this machine"});
  } else if (file.kind != ElfKind::kNative || !file.is_shared_object) {
    problems.push_back({"the library " + library.string() + " cannot be read as a shared library",
                        "build or install it again"});
  } else if (!file.exported_functions.contains("malloc") ||
             !file.exported_functions.contains("free")) {
    problems.push_back({"the library " + library.string() + " does not define malloc and free",
                        "build or install it again"});
  }
  return problems;
}

}  // namespace hakozuna::launcher
