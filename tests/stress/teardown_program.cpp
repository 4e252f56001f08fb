// Allocates and frees wherever a thread or the process comes to its end: in destructors of
// thread-specific data (for all their rounds), of thread_local and of static objects, in exit
// handlers, and while other threads still run at exit.
//
// usage: teardown_program            exits with 0 and prints one line for each place it has been
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "support/opaque.h"
#include "support/pattern.h"

namespace {

using hakozuna::test::fill_pattern;
using hakozuna::test::has_pattern;
using hakozuna::test::opaque;

// Ends the process at the first block that is not as it should be.
void use_allocator(const char* place) {
  std::array<void*, 64> blocks{};
  for (size_t i = 0; i < blocks.size(); ++i) {
    blocks[i] = opaque(std::malloc(1 + i * 997));
    if (blocks[i] == nullptr) {
      std::fprintf(stderr, "no memory %s\n", place);
      std::_Exit(1);
    }
    fill_pattern(blocks[i], 1 + i * 997, i);
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (!has_pattern(blocks[i], 1 + i * 997, i)) {
      std::fprintf(stderr, "contents lost %s\n", place);
      std::_Exit(1);
    }
    std::free(blocks[i]);
  }
}

void say(const char* place) {
  use_allocator(place);
  // stdio may be closed already.
  const std::string line = std::string(place) + "\n";
  if (write(STDOUT_FILENO, line.data(), line.size()) < 0) std::_Exit(1);
}

// Owns memory that was allocated long before its destructor runs.
class Object {
 public:
  explicit Object(const char* place) : place_(place), text_(5000, 'x') {}
  ~Object() {
    say(place_);
    text_.clear();
    text_.shrink_to_fit();
  }
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  void touch() { text_ += 'y'; }

 private:
  const char* place_;
  std::string text_;
};

pthread_key_t key;
thread_local int rounds = 0;
thread_local Object of_thread("in the destructor of a thread_local object");
Object of_process("in the destructor of a static object");

void destroy_specific(void* block) {
  std::free(block);
  use_allocator("in a destructor of thread-specific data");
  // A value set in here makes another round, until the system has had enough.
  if (++rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
    pthread_setspecific(key, opaque(std::malloc(300)));
  } else {
    say("in the last round of destructors of thread-specific data");
  }
}

void thread_body() {
  of_thread.touch();
  pthread_setspecific(key, opaque(std::malloc(300)));
  use_allocator("in a thread");
}

}  // namespace

int main() {
  if (pthread_key_create(&key, destroy_specific) != 0) return 1;
  std::atexit([] { say("in an exit handler"); });
  std::at_quick_exit([] { say("in a quick_exit handler"); });
  for (int i = 0; i < 10; ++i) std::thread(thread_body).join();
  // These never end by themselves: exit() comes over them while they allocate.
  for (int i = 0; i < 4; ++i) {
    std::thread([] {
      for (;;) use_allocator("in a thread at exit");
    }).detach();
  }
  of_thread.touch();
  of_process.touch();
  return 0;
}
