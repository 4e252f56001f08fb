// What an ELF file says about itself, as far as it decides whether a library can be preloaded into
// it.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace hakozuna::launcher {

enum class ElfKind {
  kUnreadable,  // cannot be opened
  kNotElf,
  kForeign,  // another architecture, word size or byte order than this machine's; only `machine` is
             // known
  kDamaged,  // its tables point outside the file
  kNative,
};

struct ElfFile {
  ElfKind kind = ElfKind::kUnreadable;
  std::string machine;      // "x86-64", "32-bit x86", ...
  std::string interpreter;  // the dynamic loader it asks for; empty in a static binary
  bool is_shared_object =
      false;  // may be loaded into a program (position-independent and with a dynamic section)
  std::vector<std::string> needed;           // DT_NEEDED
  std::set<std::string> exported_functions;  // defined for other objects to bind to
  std::set<std::string> imported_symbols;    // taken from other objects
  std::set<std::string> local_functions;     // defined, exported or not; empty in a stripped file
};

ElfFile read_elf(const std::filesystem::path& path);

// The name of the architecture this launcher runs on.
std::string native_machine();

}  // namespace hakozuna::launcher
