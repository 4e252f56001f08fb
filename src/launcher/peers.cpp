#include "launcher/peers.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <sstream>

#include "launcher/elf_file.h"

namespace hakozuna::launcher {

namespace fs = std::filesystem;

namespace {

struct KnownPeer {
  const char* name;
  std::vector<const char*> libraries;  // names without ".so", the preferred one first
};

const std::vector<KnownPeer>& known_peers() {
  static const std::vector<KnownPeer> known = {
      {"mimalloc", {"libmimalloc"}},
      {"tcmalloc", {"libtcmalloc_minimal", "libtcmalloc"}},  // the full one also profiles
      {"jemalloc", {"libjemalloc"}},
  };
  return known;
}

std::vector<fs::path> search_directories() {
  std::vector<fs::path> directories;
  if (const char* path = std::getenv("LD_LIBRARY_PATH")) {
    std::istringstream words(path);
    for (std::string word; std::getline(words, word, ':');) {
      if (!word.empty()) directories.emplace_back(fs::absolute(word));
    }
  }
  for (const char* root : {"/usr/local/lib", "/usr/lib", "/lib"}) {
    directories.emplace_back(fs::path(root) / HAKOZUNA_MULTIARCH);
    directories.emplace_back(std::string(root) + "64");
    directories.emplace_back(root);
  }
  return directories;
}

// The file of that library in `directory`: "<library>.so" or "<library>.so.<version>", the highest
// version first. A library of another architecture does not count.
std::optional<fs::path> library_in(const fs::path& directory, const std::string& library) {
  std::vector<fs::path> candidates;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
    const std::string file = entry.path().filename().string();
    if (file == library + ".so" || file.starts_with(library + ".so.")) {
      candidates.push_back(entry.path());
    }
  }
  std::sort(candidates.rbegin(), candidates.rend());
  for (const fs::path& candidate : candidates) {
    const ElfFile file = read_elf(candidate);
    if (file.kind == ElfKind::kNative && file.is_shared_object) return candidate;
  }
  return std::nullopt;
}

std::string version_of(const fs::path& library) {
  const std::string file = fs::canonical(library).filename().string();
  const size_t suffix = file.find(".so.");
  return suffix == std::string::npos ? "unknown" : file.substr(suffix + 4);
}

std::optional<Peer> find_peer(const KnownPeer& known) {
  for (const char* library : known.libraries) {
    for (const fs::path& directory : search_directories()) {
      if (const std::optional<fs::path> path = library_in(directory, library)) {
        return Peer{known.name, version_of(*path), *path};
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<Peer> find_peers() {
  std::vector<Peer> peers;
  for (const KnownPeer& known : known_peers()) {
    if (std::optional<Peer> peer = find_peer(known)) peers.push_back(std::move(*peer));
  }
  return peers;
}

}  // namespace hakozuna::launcher
