// A program in C++: allocates before main, in threads, in containers and while an exception passes; and after main.
#include <map>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "windows/proof.h"

namespace {

struct Early {
  std::unique_ptr<int[]> block{new int[100]()};
  ~Early() { block.reset(new int[50]); }  // after main
} early;

struct alignas(256) Wide {
  char bytes[512];
};

size_t total(int seed) {
  std::map<int, std::string> texts;
  for (int i = 0; i < 2000; ++i) texts[(i * 7919 + seed) % 500] += std::string(static_cast<size_t>(i % 90), 'x');
  size_t sum = 0;
  for (const auto& [key, text] : texts) sum += text.size();
  return sum;
}

}  // namespace

int main() {
  prove("operator new before main", early.block.get());
  const auto object = std::make_unique<std::string>(1000, 'y');
  prove("operator new", object.get());
  prove("a string", object->data());
  const auto wide = std::make_unique<Wide>();
  std::printf("aligned %d\n", reinterpret_cast<uintptr_t>(wide.get()) % 256 == 0);

  std::vector<size_t> sums(8);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < sums.size(); ++i) {
    threads.emplace_back([&sums, i] { sums[i] = total(static_cast<int>(i)); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const size_t sum : sums) std::printf("sum %zu\n", sum);

  try {
    throw std::runtime_error(std::string(200, 'z'));
  } catch (const std::exception& error) {
    std::printf("caught %zu letters\n", std::string(error.what()).size());
  }
  try {
    std::printf("%p", ::operator new(size_t{1} << 62));
  } catch (const std::bad_alloc&) {
    std::printf("caught bad_alloc\n");
  }
  return 5;
}
