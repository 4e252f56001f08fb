/* For programs that are built without us: asks whichever line is in the process whether a block is its own. The answers go to standard error, so
 * that standard output is the same with and without. */
#ifndef HAKOZUNA_TESTS_WINDOWS_PROOF_H_
#define HAKOZUNA_TESTS_WINDOWS_PROOF_H_

#include <stdio.h>
#include <windows.h>

static void prove(const char* what, const void* block) {
  static const char* const libraries[] = {"hakozuna_hz8.dll", "hakozuna_hz10.dll", "hakozuna_hz3.dll", "hakozuna_hz4.dll"};
  for (int i = 0; i < 4; ++i) {
    const HMODULE module = GetModuleHandleA(libraries[i]);
    if (!module) continue;
    int (*const classify)(const void*) = (int (*)(const void*))(void*)GetProcAddress(module, "hakozuna_classify");
    fprintf(stderr, "proof: %s: %s\n", what, classify && classify(block) == 1 ? "ours" : "foreign");
    return;
  }
  fprintf(stderr, "proof: %s: no line\n", what);
}

#endif
