// Runs out of memory and recovers.
//
// usage: memory_limit_program KIND SIZE          with RLIMIT_AS or HAKOZUNA_LIMIT set
//
// KIND is `one` (this thread), or `threads` (four at once). Allocates blocks of SIZE bytes until
// there is no memory, checks that the failure is ENOMEM and the contents are whole, frees, and does
// it again: the second time must get as far. Prints "ok N", N being the bytes it got, in MiB.
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

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s one|threads SIZE\n", argv[0]);
    return 2;
  }
  const size_t size = std::strtoull(argv[2], nullptr, 10);
  if (size < 2 * sizeof(Link)) return 2;
  size_t bytes = 0;
  if (std::strcmp(argv[1], "one") == 0) {
    expect_recovery(size, bytes);
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
