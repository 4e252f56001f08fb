// A set of blocks that is allocated, resized, checked and freed at random, by every function there
// is.
#pragma once

#include <cstddef>
#include <cstdint>

#include "support/random.h"
#include "support/scratch_array.h"

namespace hakozuna::test {

struct BlockSetLimits {
  size_t slots = 1000;
  size_t max_size = 4096;                // of one block, bytes
  size_t max_total = size_t{256} << 20;  // of all that are live, bytes
};

// One thread at a time. Every block carries contents of its own, and each is checked before it is
// resized, freed or handed on.
class BlockSet {
 public:
  BlockSet(const BlockSetLimits& limits, uint64_t seed);
  ~BlockSet();  // frees what is left
  BlockSet(const BlockSet&) = delete;
  BlockSet& operator=(const BlockSet&) = delete;

  // One random operation. False if a block was not what it should be; what() then says in which
  // way.
  bool step();
  // Checks and frees all blocks.
  bool free_all();

  const char* what() const { return what_; }

 private:
  struct Block {
    void* memory;
    size_t size;
    uint64_t seed;
    size_t alignment;  // 0 for a block without a wish
  };

  bool allocate(Block& block);
  bool resize(Block& block);
  bool release(Block& block);
  bool fail(const char* what);

  BlockSetLimits limits_;
  Random random_;
  ScratchArray<Block> blocks_;
  size_t total_ = 0;
  const char* what_ = "";
};

}  // namespace hakozuna::test
