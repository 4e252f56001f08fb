/* A C program linked with a line's archive, dynamically or fully statically: all that the C library allocates is ours, and threads,
 * forks and the rest of libc link and work.
 *
 * usage: archive_program LINE
 *        archive_program --free-foreign    frees what is no block of any allocator
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hakozuna/hakozuna.h"

static int failures;

static void expect_ours(const char* what, void* block) {
  if (hakozuna_classify(block) != HAKOZUNA_VALID) {
    fprintf(stderr, "%s is not ours\n", what);
    ++failures;
  }
  free(block);
}

static void* allocate_in_thread(void* unused) {
  (void)unused;
  return strdup("of a thread");
}

static void test_thread(void) {
  pthread_t thread;
  void* block = NULL;
  if (pthread_create(&thread, NULL, allocate_in_thread, NULL) != 0) abort();
  pthread_join(thread, &block);
  expect_ours("a block of a thread", block);
}

static void test_fork(void) {
  const pid_t child = fork();
  if (child == 0) {
    free(malloc(100000));
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  if (status != 0) {
    fprintf(stderr, "the child ended with %d\n", status);
    ++failures;
  }
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  if (strcmp(argv[1], "--free-foreign") == 0) {
    static char no_block[64];
    void* volatile address = no_block + 16;
    free(address);
    return 0;
  }
  if (strcmp(hakozuna_line_name(), argv[1]) != 0) ++failures;
  expect_ours("malloc", malloc(100));
  expect_ours("memalign", memalign(64, 100));
  expect_ours("strdup", strdup("text"));
  char* line = NULL;
  size_t capacity = 0;
  FILE* const file = fopen("/proc/self/status", "r");
  if (!file || getline(&line, &capacity, file) <= 0) ++failures;
  if (file) fclose(file);
  expect_ours("getline", line);
  test_thread();
  test_fork();
  malloc_trim(0);
  if (mallinfo2().uordblks == 0) ++failures;
  printf("%d failures\n", failures);
  return failures != 0;
}
