/* behave COMMAND [ARGUMENT]...: does one thing a test can observe. Where it matters, "served" means
 * that a line is loaded. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

__attribute__((weak)) const char* hakozuna_line_name(void);

static const char* line(void) { return hakozuna_line_name ? hakozuna_line_name() : "system"; }

int main(int count, char** words) {
  if (count < 2) return 99;
  const char* command = words[1];
  const char* argument = count > 2 ? words[2] : "0";
  if (!strcmp(command, "arguments")) {
    for (int i = 2; i < count; ++i) printf("<%s>", words[i]);
  } else if (!strcmp(command, "exit")) {
    return atoi(argument);
  } else if (!strcmp(command, "signal")) {
    abort();
  } else if (!strcmp(command, "line")) {
    puts(line());
  } else if (!strcmp(command, "exit-if-served")) {
    return hakozuna_line_name ? 3 : 0;
  } else if (!strcmp(command, "abort-if-served")) {
    if (hakozuna_line_name) abort();
  } else if (!strcmp(command, "complain-if-served")) {
    if (hakozuna_line_name) fputs("something is wrong\n", stderr);
  } else if (!strcmp(command, "process-number")) {
    printf("%ld\n", (long)getpid());
  } else if (!strcmp(command, "pause")) { /* milliseconds */
    const struct timespec time = {atol(argument) / 1000, atol(argument) % 1000 * 1000000};
    nanosleep(&time, NULL);
  } else if (!strcmp(command, "touch")) { /* MiB */
    const size_t size = (size_t)atol(argument) << 20;
    void* memory = mmap(NULL, size + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return 98;
    memset(memory, 1, size);
  } else {
    return 97;
  }
  return 0;
}
