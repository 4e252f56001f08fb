// Allocates, frees, then does nothing at all: with HAKOZUNA_BACKGROUND the memory goes back all the same. Prints MiB resident before it slept
// and after. With the argument "fork" a child does that.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "support/process.h"
#include "support/scratch_array.h"

namespace {

void allocate_and_sleep() {
  constexpr size_t kBlocks = 100;
  constexpr size_t kBytes = size_t{1} << 20;
  hakozuna::test::ScratchArray<void*> blocks(kBlocks);
  for (void*& block : blocks) {
    block = std::malloc(kBytes);
    std::memset(block, 1, kBytes);
  }
  for (void* block : blocks) std::free(block);
  std::printf("%zu ", hakozuna::test::resident_bytes() >> 20);
  std::fflush(stdout);
  hakozuna::test::sleep_ms(2000);
  std::printf("%zu\n", hakozuna::test::resident_bytes() >> 20);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "fork") == 0) {
    const pid_t child = fork();
    if (child != 0) {
      int status = 0;
      waitpid(child, &status, 0);
      return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    }
  }
  allocate_and_sleep();
  return 0;
}
