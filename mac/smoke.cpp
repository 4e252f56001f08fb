// A program that knows nothing of us but how to ask, run by smoke.sh: mac/smoke LINE. Exit code 0 if every way to a block leads to the line.
#include <dlfcn.h>
#include <malloc/malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <new>
#include <thread>
#include <vector>

namespace {

int (*classify)(const void*);
bool good = true;

constexpr int kValid = 1;  // HAKOZUNA_VALID

void expect(bool condition, const char* what) {
  if (condition) return;
  printf("not so: %s\n", what);
  good = false;
}

void expect_ours(const void* block, const char* from) { expect(block && classify(block) == kValid, from); }

void check_every_way() {
  void* block = malloc(100);
  expect_ours(block, "malloc is ours");
  expect(malloc_size(block) >= 100, "malloc_size knows it");
  expect(malloc_zone_from_ptr(block) != nullptr, "its zone is found");
  block = realloc(block, 100000);
  expect_ours(block, "realloc is ours");
  free(block);

  char* const text = strdup("a string of the system's library");
  expect_ours(text, "strdup is ours");
  free(text);

  block = malloc_zone_malloc(malloc_default_zone(), 50);
  expect_ours(block, "the default zone is ours");
  malloc_zone_free(malloc_default_zone(), block);

  malloc_zone_t* const other = malloc_create_zone(0, 0);
  block = malloc_zone_malloc(other, 50);
  expect(block && classify(block) == 0, "a zone of the system's stays one");
  free(block);
  malloc_destroy_zone(other);

  int* const number = new int(1);
  expect_ours(number, "operator new is ours");
  delete number;
  try {
    const size_t too_much = SIZE_MAX / 2;
    operator delete(operator new(too_much));
    expect(false, "too much is refused");
  } catch (const std::bad_alloc&) {
  }
}

void check_threads() {
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 10000; ++i) free(malloc(static_cast<size_t>(i % 3000)));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

void check_fork() {
  const pid_t child = fork();
  if (child == 0) {
    check_every_way();
    _exit(good ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  expect(status == 0, "a forked child allocates");
}

}  // namespace

int main(int, char** arguments) {
  const auto line_name = reinterpret_cast<const char* (*)()>(dlsym(RTLD_DEFAULT, "hakozuna_line_name"));
  classify = reinterpret_cast<int (*)(const void*)>(dlsym(RTLD_DEFAULT, "hakozuna_classify"));
  if (!line_name || !classify || strcmp(line_name(), arguments[1]) != 0) {
    printf("the library was not loaded\n");
    return 1;
  }
  check_every_way();
  check_threads();
  check_fork();
  return good ? 0 : 1;
}
