/* Runs a program several times and prints the peak of its resident memory each time, in KiB.
 *
 * usage: measure_peak RUNS [LIBRARY] -- PROGRAM [ARGUMENT...]       LIBRARY is preloaded into the
 * program, not into this one */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int usage(const char* name) {
  fprintf(stderr, "usage: %s RUNS [LIBRARY] -- PROGRAM [ARGUMENT...]\n", name);
  return 2;
}

int main(int argc, char** argv) {
  int at = 2;
  if (argc < 4) return usage(argv[0]);
  const char* library = NULL;
  if (strcmp(argv[at], "--") != 0) library = argv[at++];
  if (at + 1 >= argc || strcmp(argv[at], "--") != 0) return usage(argv[0]);
  char** program = argv + at + 1;
  if (library) {
    setenv("LD_PRELOAD", library, 1);
  } else {
    unsetenv("LD_PRELOAD");
  }
  for (long runs = strtol(argv[1], NULL, 10); runs > 0; --runs) {
    const pid_t child = fork();
    if (child == 0) {
      execv(program[0], program);
      _exit(127);
    }
    int status = 0;
    struct rusage used;
    if (child < 0 || wait4(child, &status, 0, &used) != child || status != 0) {
      fprintf(stderr, "%s failed\n", program[0]);
      return 1;
    }
    printf("%ld\n", used.ru_maxrss);
  }
  return 0;
}
