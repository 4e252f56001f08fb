// Every form of new and delete the language has, as expressions: each comes from and goes back to the line that is preloaded or linked.
#include <dlfcn.h>
#include <stdio.h>

#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "hakozuna/hakozuna.h"

namespace {

int failures = 0;
int cases = 0;

template <class Function>
Function* find(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

decltype(hakozuna_classify)* const classify = find<decltype(hakozuna_classify)>("hakozuna_classify");

uint64_t foreign_frees() {
  hakozuna_statistics all{};
  find<decltype(hakozuna_get_statistics)>("hakozuna_get_statistics")(&all, sizeof all);
  return all.foreign_frees;
}

void expect_ours(const char* form, const void* block, size_t alignment) {
  ++cases;
  if (classify(block) == HAKOZUNA_VALID && reinterpret_cast<uintptr_t>(block) % alignment == 0) return;
  ++failures;
  fprintf(stderr, "%s: %p is not ours or not aligned\n", form, block);
}

struct Trivial {
  int value[10];
};
struct Destroyed {  // arrays of it carry their length, and delete knows their size
  ~Destroyed() { value[0] = 0; }
  int value[10];
};
struct alignas(128) Aligned {
  ~Aligned() { value[0] = 0; }
  int value[10];
};

// What precedes an array of objects with a destructor: its length, padded to the alignment.
template <class T>
const void* block_of_array(const T* array) {
  const size_t cookie = std::is_trivially_destructible_v<T> ? 0 : std::max(alignof(T), sizeof(size_t));
  return reinterpret_cast<const char*>(array) - cookie;
}

template <class T>
void expect_forms_of(const char* type) {
  constexpr size_t kAlignment = alignof(T) > 16 ? alignof(T) : 16;
  T* one = new T;
  expect_ours(type, one, kAlignment);
  delete one;
  one = new (std::nothrow) T;
  expect_ours(type, one, kAlignment);
  delete one;
  T* many = new T[7];
  expect_ours(type, block_of_array(many), kAlignment);
  delete[] many;
  many = new (std::nothrow) T[7];
  expect_ours(type, block_of_array(many), kAlignment);
  delete[] many;
}

// The forms that no expression chooses by itself.
void expect_operators_called_by_name() {
  const auto alignment = std::align_val_t{256};
  void* const blocks[] = {
      ::operator new(100),
      ::operator new(100, std::nothrow),
      ::operator new(100, alignment),
      ::operator new(100, alignment, std::nothrow),
      ::operator new[](100),
      ::operator new[](100, std::nothrow),
      ::operator new[](100, alignment),
      ::operator new[](100, alignment, std::nothrow),
      ::operator new(100),
      ::operator new(100, alignment),
      ::operator new[](100),
      ::operator new[](100, alignment),
  };
  for (const void* block : blocks) expect_ours("operator new", block, 16);
  ::operator delete(blocks[0]);
  ::operator delete(blocks[1], std::nothrow);
  ::operator delete(blocks[2], alignment);
  ::operator delete(blocks[3], alignment, std::nothrow);
  ::operator delete[](blocks[4]);
  ::operator delete[](blocks[5], std::nothrow);
  ::operator delete[](blocks[6], alignment);
  ::operator delete[](blocks[7], alignment, std::nothrow);
  ::operator delete(blocks[8], 100);
  ::operator delete(blocks[9], 100, alignment);
  ::operator delete[](blocks[10], 100);
  ::operator delete[](blocks[11], 100, alignment);
}

}  // namespace

int main() {
  if (!classify) {
    fprintf(stderr, "no line is loaded\n");
    return 1;
  }
  const uint64_t before = foreign_frees();
  expect_forms_of<Trivial>("trivial");
  expect_forms_of<Destroyed>("with a destructor");
  expect_forms_of<Aligned>("over-aligned");
  expect_operators_called_by_name();

  const std::string text(1000, 'x');  // allocated by code inside the C++ library
  expect_ours("std::string", text.data(), 16);
  const auto shared = std::make_shared<std::vector<int>>(1000);
  expect_ours("std::vector", shared->data(), 16);

  if (foreign_frees() != before) {
    ++failures;
    fprintf(stderr, "a block of ours went to the allocator underneath\n");
  }
  printf("%d cases, %d failures\n", cases, failures);
  return failures != 0;
}
