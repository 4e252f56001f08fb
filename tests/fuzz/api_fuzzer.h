// Turns bytes into calls of the allocator and checks every answer against an oracle.
//
// The oracle keeps its own map of the live blocks, outside the heap. After every call it knows what
// must hold: no block overlaps another, contents are kept, alignment and usable size are what was
// asked, classify() agrees, and at quiescent points the statistics add up and count exactly the
// blocks there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace hakozuna::test {

class ApiFuzzer {
 public:
  ApiFuzzer();
  ~ApiFuzzer();
  ApiFuzzer(const ApiFuzzer&) = delete;
  ApiFuzzer& operator=(const ApiFuzzer&) = delete;

  // Performs the operations the bytes stand for. Null if every check held, else what did not.
  const char* run(const uint8_t* bytes, size_t count);

  // Frees all blocks and checks that nothing is left.
  const char* finish();

 private:
  class Oracle;
  std::unique_ptr<Oracle> oracle_;
};

}  // namespace hakozuna::test
