// Runs out of memory and recovers.
//
// usage: memory_limit_program KIND SIZE          with RLIMIT_AS or HAKOZUNA_LIMIT set
//
// With `one` (this thread) or `threads` (four at once) as KIND: allocates blocks of SIZE bytes until
// there is no memory, checks that the failure is ENOMEM and the contents are whole, frees, and does
// it again: the second time must get as far. Prints "ok N", N being the bytes it got, in MiB.
//
// With `realloc`: a large block that has to move grows while there is memory for what it grows by and for nothing else. If that fails the block is
// as it was.
#include <sys/mman.h>
#include <sys/resource.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "support/line_under_test.h"
#include "support/opaque.h"
#include "support/pattern.h"

namespace {

using namespace hakozuna::test;

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "failed: %s\n", what);
  std::_Exit(1);
}

// The blocks are a list through themselves: there is no memory for anything else.
struct Link {
  Link* next;
  uint64_t seed;
};

// Returns how many blocks there were.
size_t exhaust(size_t size) {
  Link* first = nullptr;
  size_t count = 0;
  for (;; ++count) {
    errno = 0;
    void* block = opaque(std::malloc(size));
    if (block == nullptr) break;
    fill_sparse(block, size, count);
    auto* link = static_cast<Link*>(block);
    *link = {first, count};
    first = link;
  }
  if (errno != ENOMEM) fail("errno is not ENOMEM");
  // Every other function says no as well, or finds a remainder; none may fail in another way.
  for (int i = 0; i < 100; ++i) {
    errno = 0;
    void* block = i % 2 == 0 ? opaque(std::calloc(1, size)) : opaque(std::realloc(nullptr, size));
    if (block == nullptr && errno != ENOMEM) fail("errno is not ENOMEM, in calloc or realloc");
    std::free(block);
  }
  for (size_t left = count; left > 0; --left) {
    Link* link = first;
    if (link->seed != left - 1) fail("a block was overwritten");
    first = link->next;
    // The beginning holds the link; it was a pattern before.
    fill_pattern(link, sizeof(Link), left - 1);
    if (!has_sparse(link, size, left - 1)) fail("contents were overwritten");
    std::free(link);
  }
  return count;
}

void expect_recovery(size_t size, size_t& bytes) {
  const size_t before = exhaust(size);
  const size_t after = exhaust(size);
  if (after < before - before / 10) fail("less memory is there after it was all freed");
  bytes = before * size;
}

size_t data_bytes() {
  size_t kibibytes = 0;
  char line[128];
  std::FILE* const file = std::fopen("/proc/self/status", "r");
  while (std::fgets(line, sizeof line, file) && std::sscanf(line, "VmData: %zu", &kibibytes) != 1) {
  }
  std::fclose(file);
  return kibibytes << 10;
}

void expect_realloc_to_fail_well(size_t size) {
  constexpr size_t kMore = size_t{1} << 20;
  auto* const block = static_cast<char*>(opaque(std::malloc(size)));
  if (!block) fail("no memory to begin with");
  fill_sparse(block, size, 1);
  // No room behind it, and none within 4 GiB, so that an allocator that has tables of addresses needs new ones.
  mmap(block + size, 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  mmap(nullptr, size_t{5} << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  const size_t allowed = data_bytes() + kMore + 300 * 1024;
  const rlimit limit = {allowed, allowed};
  if (setrlimit(RLIMIT_DATA, &limit) != 0) fail("no limit could be set");
  errno = 0;
  void* const grown = opaque(std::realloc(block, size + kMore));
  if (!grown && errno != ENOMEM) fail("errno is not ENOMEM, in realloc");
  if (!has_sparse(grown ? grown : block, size, 1)) fail("realloc lost the contents");
  std::free(grown ? grown : block);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s one|threads|realloc SIZE\n", argv[0]);
    return 2;
  }
  const size_t size = std::strtoull(argv[2], nullptr, 10);
  if (size < 2 * sizeof(Link)) return 2;
  size_t bytes = 0;
  if (std::strcmp(argv[1], "one") == 0) {
    expect_recovery(size, bytes);
  } else if (std::strcmp(argv[1], "realloc") == 0) {
    expect_realloc_to_fail_well(size);
  } else {
    std::atomic<size_t> total = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&total, size] { total += exhaust(size) * size; });
    }
    for (std::thread& thread : threads) thread.join();
    bytes = total;
    if (exhaust(size) * size < bytes / 4) fail("the memory of the threads is lost");
  }
  const std::string problem = problem_with_statistics();
  if (!problem.empty()) fail(problem.c_str());
  std::printf("ok %zu\n", bytes >> 20);
  return 0;
}
