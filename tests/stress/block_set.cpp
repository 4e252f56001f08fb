#include "stress/block_set.h"

#include <malloc.h>

#include <cstdlib>
#include <new>

#include "support/opaque.h"
#include "support/pattern.h"

namespace hakozuna::test {

BlockSet::BlockSet(const BlockSetLimits& limits, uint64_t seed)
    : limits_(limits), random_(seed), blocks_(limits.slots) {}

BlockSet::~BlockSet() {
  for (Block& block : blocks_) std::free(block.memory);
}

bool BlockSet::fail(const char* what) {
  what_ = what;
  return false;
}

bool BlockSet::allocate(Block& block) {
  const size_t size = random_.size_between(1, limits_.max_size);
  if (total_ + size > limits_.max_total) return true;
  void* memory = nullptr;
  size_t alignment = 0;
  switch (random_.below(8)) {
    case 0:
      memory = opaque(std::calloc(1, size));
      if (memory != nullptr && !is_zero(memory, size))
        return fail("calloc gave memory that is not zero");
      break;
    case 1:
      alignment = size_t{16} << random_.below(9);
      if (posix_memalign(&memory, alignment, size) != 0) return fail("posix_memalign failed");
      break;
    case 2:
      memory = opaque(::operator new(size, std::nothrow));
      break;
    case 3:
      memory = opaque(std::realloc(nullptr, size));
      break;
    default:
      memory = opaque(std::malloc(size));
      break;
  }
  if (memory == nullptr) return fail("an allocation failed");
  if (reinterpret_cast<uintptr_t>(memory) % (alignment == 0 ? 16 : alignment) != 0) {
    return fail("a block is not aligned");
  }
  if (malloc_usable_size(memory) < size) return fail("the usable size is less than what was asked");
  block = {memory, size, random_.next(), alignment};
  fill_sparse(memory, size, block.seed);
  total_ += size;
  return true;
}

bool BlockSet::resize(Block& block) {
  const size_t size = random_.size_between(1, limits_.max_size);
  if (total_ - block.size + size > limits_.max_total) return true;
  const size_t kept = size < block.size ? size : block.size;
  void* memory = opaque(std::realloc(block.memory, size));
  if (memory == nullptr) return fail("realloc failed");
  if (!has_sparse(memory, block.size, block.seed, kept)) return fail("realloc lost contents");
  total_ += size - block.size;
  block = {memory, size, random_.next(), 0};
  fill_sparse(memory, size, block.seed);
  return true;
}

bool BlockSet::release(Block& block) {
  if (!has_sparse(block.memory, block.size, block.seed)) return fail("contents were overwritten");
  if (block.alignment == 0 && random_.one_in(4)) {
    ::operator delete(block.memory);
  } else {
    std::free(block.memory);
  }
  total_ -= block.size;
  block = {};
  return true;
}

bool BlockSet::step() {
  Block& block = blocks_[random_.below(blocks_.size())];
  if (block.memory == nullptr) return allocate(block);
  if (!has_sparse(block.memory, block.size, block.seed)) return fail("contents were overwritten");
  return random_.one_in(4) ? resize(block) : release(block);
}

bool BlockSet::free_all() {
  for (Block& block : blocks_) {
    if (block.memory != nullptr && !release(block)) return false;
  }
  return true;
}

}  // namespace hakozuna::test
