// Forks at moments that are hard on an allocator.
//
//   fork_program handlers    with fork handlers of a library that allocate
//   fork_program purge       while another thread returns memory: what calloc gives the child must be zero
//   fork_program destructor  in the last destructor of a thread: the child's blocks must not overlap
//
// Exits with 0 if all is well, else with one line on stderr and 1.
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>
#include <vector>

#include <malloc.h>

#include "fork_handlers_library.h"

namespace {

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "%s\n", what);
  _exit(1);
}

template <class Work>
void run_in_child(Work&& work) {
  const pid_t child = fork();
  if (child == 0) {
    work();
    _exit(0);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0) fail("the child did not end well");
}

// ---- handlers

void fork_with_handlers() {
  for (int i = 0; i < 20; ++i) {
    run_in_child([] {
      if (!fork_handlers_are_idle()) fail("the child's handler did not run");
      std::free(std::malloc(1000));
    });
  }
}

// ---- purge

constexpr size_t kBytes = 8192;
constexpr size_t kBlocks = 2560;
constexpr size_t kStretch = 16;  // blocks that are freed together: runs as a whole, between others that stay

bool comes_and_goes(size_t i) { return i / kStretch % 2 == 1; }

void fork_while_memory_is_returned() {
  std::atomic<bool> stop{false};
  std::atomic<bool> purging{false};
  std::thread other([&] {
    std::vector<void*> blocks(kBlocks);
    while (!stop) {
      for (void*& block : blocks) {
        if (block) continue;
        block = std::malloc(kBytes);
        std::memset(block, 0xab, kBytes);
      }
      for (size_t i = 0; i < kBlocks; ++i) {
        if (!comes_and_goes(i)) continue;
        std::free(blocks[i]);
        blocks[i] = nullptr;
      }
      purging = true;
      malloc_trim(0);
      purging = false;
    }
    for (void* block : blocks) std::free(block);
  });
  for (unsigned i = 0; i < 60; ++i) {
    while (!purging) std::this_thread::yield();
    usleep(i * 7 % 100);  // another moment of the purge each time
    run_in_child([] {
      for (size_t block = 0; block < kBlocks / 2; ++block) {
        const auto* const bytes = static_cast<const unsigned char*>(std::calloc(1, kBytes));
        if (!bytes) fail("no memory");
        for (size_t at = 0; at < kBytes; at += 64) {
          if (bytes[at] != 0) fail("calloc gave the child what another thread had written");
        }
      }
    });
  }
  stop = true;
  other.join();
}

// ---- destructor

pthread_key_t key;

void allocate_and_compare(unsigned char first) {
  constexpr size_t kAtOnce = 64;
  constexpr size_t kSmall = 200;  // bytes
  for (int round = 0; round < 4000; ++round) {
    unsigned char* blocks[kAtOnce];
    for (size_t i = 0; i < kAtOnce; ++i) {
      blocks[i] = static_cast<unsigned char*>(std::malloc(kSmall));
      std::memset(blocks[i], static_cast<int>(first + i), kSmall);
    }
    for (size_t i = 0; i < kAtOnce; ++i) {
      for (size_t at = 0; at < kSmall; ++at) {
        if (blocks[i][at] != first + i) fail("two blocks overlap");
      }
    }
    for (unsigned char* block : blocks) std::free(block);
  }
}

void at_thread_exit(void* value) {
  static thread_local int round = 0;
  // The last rounds of destructors, when the allocator's own is over.
  if (++round < PTHREAD_DESTRUCTOR_ITERATIONS - 1) {
    pthread_setspecific(key, value);
    return;
  }
  std::free(std::malloc(64));
  run_in_child([] {
    std::thread trims([] {
      for (int i = 0; i < 25; ++i) {
        std::free(std::malloc(100 + static_cast<size_t>(i) * 300));
        malloc_trim(0);
        usleep(1000);
      }
    });
    usleep(10'000);
    std::thread works([] { allocate_and_compare(100); });
    allocate_and_compare(0);
    works.join();
    trims.join();
  });
}

void fork_in_a_destructor() {
  if (pthread_key_create(&key, at_thread_exit) != 0) fail("no key");
  for (int i = 0; i < 5; ++i) {
    std::thread([] {
      pthread_setspecific(key, &key);
      std::free(std::malloc(10));
    }).join();
  }
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view mode = count == 2 ? arguments[1] : "";
  if (mode == "handlers") {
    fork_with_handlers();
  } else if (mode == "purge") {
    fork_while_memory_is_returned();
  } else if (mode == "destructor") {
    fork_in_a_destructor();
  } else {
    fail("usage: fork_program handlers|purge|destructor");
  }
}
