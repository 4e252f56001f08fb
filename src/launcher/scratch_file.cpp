#include "launcher/scratch_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "launcher/error.h"

namespace hakozuna::launcher {

namespace {

// Above the descriptors that a child is given by number, so that putting one in place never closes
// another.
constexpr int kLowestDescriptor = 10;

// Calls `take` with one piece of the file after the other.
template <class Take>
void read_pieces(int descriptor, Take take) {
  std::vector<char> buffer(256 * 1024);
  off_t offset = 0;
  for (;;) {
    const ssize_t length = ::pread(descriptor, buffer.data(), buffer.size(), offset);
    if (length < 0 && errno == EINTR) continue;
    if (length <= 0) return;
    take(std::string_view(buffer.data(), static_cast<size_t>(length)));
    offset += length;
  }
}

}  // namespace

ScratchFile::ScratchFile() {
  const char* directory = std::getenv("TMPDIR");
  std::string name = std::string(directory && *directory ? directory : "/tmp") + "/hakozuna-XXXXXX";
  const int first = ::mkostemp(name.data(), O_CLOEXEC);
  if (first < 0) {
    throw LauncherError(kExitCannotStart,
                        "cannot make a temporary file " + name + ": " + std::strerror(errno));
  }
  ::unlink(name.c_str());
  descriptor_ = ::fcntl(first, F_DUPFD_CLOEXEC, kLowestDescriptor);
  const int error = errno;
  ::close(first);
  if (descriptor_ < 0) {
    throw LauncherError(kExitCannotStart,
                        std::string("cannot make a temporary file: ") + std::strerror(error));
  }
}

ScratchFile::~ScratchFile() { ::close(descriptor_); }

std::string ScratchFile::text() const {
  std::string all;
  read_pieces(descriptor_, [&](std::string_view piece) { all += piece; });
  return all;
}

ScratchFile::Digest ScratchFile::digest() const {
  Digest digest;
  digest.hash = 0xcbf29ce484222325;  // FNV-1a
  read_pieces(descriptor_, [&](std::string_view piece) {
    digest.bytes += piece.size();
    for (const char byte : piece) {
      digest.hash = (digest.hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
    }
  });
  return digest;
}

}  // namespace hakozuna::launcher
