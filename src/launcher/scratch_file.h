// An unnamed temporary file that takes what a child process writes.
#pragma once

#include <cstdint>
#include <string>

namespace hakozuna::launcher {

class ScratchFile {
 public:
  ScratchFile();  // throws LauncherError if no file can be made in TMPDIR or /tmp
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  int descriptor() const { return descriptor_; }

  std::string text() const;

  // What was written, in a form that is cheap to keep and compare.
  struct Digest {
    uint64_t bytes = 0;
    uint64_t hash = 0;
    auto operator<=>(const Digest&) const = default;
  };
  Digest digest() const;

 private:
  int descriptor_;
};

}  // namespace hakozuna::launcher
