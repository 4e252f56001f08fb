// The entry point of libFuzzer.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "fuzz/api_fuzzer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t count) {
  hakozuna::test::ApiFuzzer fuzzer;
  const char* problem = fuzzer.run(bytes, count);
  if (problem == nullptr) problem = fuzzer.finish();
  if (problem != nullptr) {
    std::fprintf(stderr, "%s\n", problem);
    std::abort();
  }
  return 0;
}
