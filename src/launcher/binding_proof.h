// Proof that a library serves a program: the dynamic loader is asked to load and bind the program
// with the preload in place, and to say which malloc each object got. The program's own code does
// not run.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace hakozuna::launcher {

struct Binding {
  std::string user;      // the object that calls
  std::string function;  // "malloc"
  std::string provider;  // the object whose function it got
};

struct BindingProof {
  bool library_loaded = false;
  std::vector<std::string> loaded;   // names of the shared libraries the program loads
  std::vector<std::string> missing;  // those it needs that are not there
  std::vector<Binding> ours;         // malloc, calloc, realloc and free bound to the library
  std::vector<Binding> others;       // and those bound elsewhere
  std::string refusal;               // why the loader would not start the program, one line
  std::string complaint;             // what else it had to say, such as why it left out a library
};

// `binary` must be a dynamically linked program for glibc: any other would run.
BindingProof prove_binding(const std::filesystem::path& binary,
                           const std::filesystem::path& library);

}  // namespace hakozuna::launcher
