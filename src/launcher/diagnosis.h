// What can be told about a program without starting it: whether the dynamic loader can put a
// library of ours before its malloc.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "launcher/program.h"

namespace hakozuna::launcher {

struct Problem {
  std::string what;
  std::string remedy;
};

struct Diagnosis {
  ResolvedProgram program;
  std::string loader;             // the dynamic loader of the binary, if it has one
  std::vector<Problem> problems;  // none: nothing speaks against it
  std::vector<std::string> notes;
};

Diagnosis diagnose_program(const std::string& name);

// What speaks against preloading this library at all.
std::vector<Problem> diagnose_library(const std::filesystem::path& library);

// "jemalloc" for "libjemalloc.so.2" and so on; empty for a library that is no allocator.
std::string allocator_in_library(const std::string& library_name);

}  // namespace hakozuna::launcher
