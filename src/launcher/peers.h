// The other allocators of the distribution, to compare with.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace hakozuna::launcher {

struct Peer {
  std::string name;            // "mimalloc"
  std::string version;         // the version its file carries, "2.0"
  std::filesystem::path path;  // absolute
};

// Those found, in LD_LIBRARY_PATH first and then where distributions install libraries of this
// machine's architecture.
std::vector<Peer> find_peers();

}  // namespace hakozuna::launcher
