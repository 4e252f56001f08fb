// An array that is not malloc's: what a test must remember of its blocks does not disturb the
// allocator, and counts the same in resident memory before and after.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>

namespace hakozuna::test {

// Zeroed, and resident from the start.
template <class T>
class ScratchArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  explicit ScratchArray(size_t count) : count_(count) {
    void* memory = mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED) {
      std::fputs("ScratchArray: mmap failed\n", stderr);
      std::abort();
    }
    items_ = static_cast<T*>(memory);
  }
  ~ScratchArray() { munmap(static_cast<void*>(items_), count_ * sizeof(T)); }
  ScratchArray(const ScratchArray&) = delete;
  ScratchArray& operator=(const ScratchArray&) = delete;

  T& operator[](size_t index) { return items_[index]; }
  const T& operator[](size_t index) const { return items_[index]; }
  T* begin() { return items_; }
  T* end() { return items_ + count_; }
  size_t size() const { return count_; }

 private:
  T* items_;
  size_t count_;
};

}  // namespace hakozuna::test
