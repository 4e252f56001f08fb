/* usage: consumer LINE    succeeds if malloc, here and inside libc, is that line's */
#define _POSIX_C_SOURCE 200809L
#include <hakozuna/hakozuna.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  if (argc != 2 || strcmp(hakozuna_line_name(), argv[1]) != 0) return 1;
  void* const block = malloc(100);
  char* const text = strdup("allocated by libc");
  const int ours = hakozuna_classify(block) == HAKOZUNA_VALID && hakozuna_classify(text) == HAKOZUNA_VALID;
  free(block);
  free(text);
  printf("%s: malloc and strdup are %s\n", hakozuna_line_name(), ours ? "ours" : "not ours");
  return ours ? 0 : 1;
}
