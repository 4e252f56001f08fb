// Misuses the allocator in one way and then uses it well.
//
// usage: misuse_program CASE
//
// Prints "address ..." with the pointer it is about to misuse, and when it got past that,
// "survived", then "sound" if the heap still works with all contents kept and the statistics still
// hold, then "misuses N". Exits with 77 if the line has no such address.
#include <sys/mman.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <new>
#include <thread>
#include <vector>

#include "stress/block_set.h"
#include "support/line_under_test.h"
#include "support/opaque.h"

namespace {

using namespace hakozuna::test;

constexpr size_t kMiB = size_t{1} << 20;

void* allocate(size_t size) {
  void* block = opaque(std::malloc(size));
  if (block == nullptr) std::exit(3);
  return block;
}

void announce(const void* address) {
  std::printf("address 0x%" PRIxPTR "\n", reinterpret_cast<uintptr_t>(address));
  std::fflush(stdout);
}

template <class Task>
void in_another_thread(Task task) {
  std::thread(task).join();
}

[[noreturn]] void not_applicable() {
  std::printf("no such address\n");
  std::exit(77);
}

// Live blocks on both sides keep the span of the one between them in use.
struct Neighbours {
  explicit Neighbours(size_t size)
      : before(allocate(size)), block(allocate(size)), after(allocate(size)) {}
  void* before;
  void* block;
  void* after;
};

// ---- Freed before
// -------------------------------------------------------------------------------------------------

void free_twice(size_t size) {
  const Neighbours n(size);
  std::free(n.block);
  announce(n.block);
  std::free(n.block);
}
void double_free_small() { free_twice(40); }
void double_free_medium() { free_twice(24'000); }
void double_free_wide() { free_twice(300'000); }
void double_free_large() { free_twice(5 * kMiB); }

void double_free_only_block() {
  void* block = allocate(50'000);
  std::free(block);
  announce(block);
  std::free(block);
}

void double_free_after_others() {
  std::vector<void*> blocks(200);
  for (void*& block : blocks) block = allocate(100);
  for (void* block : blocks) std::free(block);
  announce(blocks[77]);
  std::free(blocks[77]);
}

void owner_then_other_thread() {
  const Neighbours n(100);
  std::free(n.block);
  announce(n.block);
  in_another_thread([&] { std::free(n.block); });
}

void other_thread_then_owner() {
  const Neighbours n(100);
  in_another_thread([&] { std::free(n.block); });
  announce(n.block);
  std::free(n.block);
}

void other_thread_twice() {
  const Neighbours n(100);
  in_another_thread([&] {
    std::free(n.block);
    announce(n.block);
    std::free(n.block);
  });
}

void two_other_threads() {
  const Neighbours n(100);
  in_another_thread([&] { std::free(n.block); });
  announce(n.block);
  in_another_thread([&] { std::free(n.block); });
}

void twice_after_owner_ended() {
  void* block = nullptr;
  in_another_thread([&] { block = Neighbours(100).block; });
  std::free(block);
  announce(block);
  std::free(block);
}

void owner_freed_it_and_ended() {
  void* block = nullptr;
  in_another_thread([&] {
    block = Neighbours(100).block;
    std::free(block);
  });
  announce(block);
  std::free(block);
}

void delete_after_free() {
  const Neighbours n(100);
  std::free(n.block);
  announce(n.block);
  ::operator delete(n.block);
}

void realloc_after_free() {
  const Neighbours n(100);
  std::free(n.block);
  announce(n.block);
  if (opaque(std::realloc(n.block, 200)) != nullptr) std::exit(4);
}

void sized_free_after_free() {
  const Neighbours n(100);
  std::free(n.block);
  announce(n.block);
  api().free_sized(n.block, 100);
}

// ---- Not the start of a block
// ---------------------------------------------------------------------------------------

void free_inside(size_t size, size_t offset) {
  char* address = static_cast<char*>(allocate(size)) + offset;
  announce(address);
  std::free(address);
}
void interior_small() { free_inside(100, 16); }
void interior_medium() { free_inside(24'000, 4096); }
void interior_wide() { free_inside(300'000, 65'536); }
void interior_large() { free_inside(5 * kMiB, kMiB); }
void misaligned_small() { free_inside(100, 1); }
void misaligned_medium() { free_inside(24'000, 8); }
void misaligned_large() { free_inside(5 * kMiB, 3); }

void realloc_inside() {
  char* address = static_cast<char*>(allocate(1000)) + 32;
  announce(address);
  if (opaque(std::realloc(address, 2000)) != nullptr) std::exit(4);
}

void interior_from_another_thread() {
  char* address = static_cast<char*>(allocate(1000)) + 32;
  announce(address);
  in_another_thread([&] { std::free(address); });
}

// The first address with the verdict near a block of one of many sizes; the program ends if there
// is none.
void* find_verdict(hakozuna_verdict wanted) {
  for (size_t size = 16; size < kMiB; size += 16 + size / 12) {
    auto* const block = static_cast<char*>(allocate(size));
    const uintptr_t chunk = reinterpret_cast<uintptr_t>(block) & ~uintptr_t{0xffff};
    for (uintptr_t offset = 0; offset < 4 * kMiB; offset += 16) {
      // Both ways from the block's 64 KiB chunk.
      for (const uintptr_t address : {chunk + offset, chunk - offset}) {
        auto* candidate = reinterpret_cast<void*>(address);
        if (api().classify(candidate) == wanted) return candidate;
      }
    }
  }
  not_applicable();
}

void free_verdict(hakozuna_verdict wanted) {
  std::puts("searching");  // stdout's buffer is not to be allocated at the very address
  void* address = find_verdict(wanted);
  announce(address);
  std::free(address);
}
void tail_slack() { free_verdict(HAKOZUNA_TAIL_SLACK); }
void metadata_pointer() { free_verdict(HAKOZUNA_METADATA); }
void never_handed_out() { free_verdict(HAKOZUNA_FREED); }

// ---- Sized frees
// ----------------------------------------------------------------------------------------------------

void sized_free_too_large() {
  void* block = allocate(100);
  announce(block);
  api().free_sized(block, 100'000);
}

void sized_delete_too_large() {
  void* object = opaque(::operator new(24));
  announce(object);
  ::operator delete (object, size_t{5000});
}

void sized_free_of_large_block() {
  void* block = allocate(5 * kMiB);
  announce(block);
  api().free_sized(block, 50 * kMiB);
}

// ---- Not ours
// --------------------------------------------------------------------------------------------------------

alignas(64) char static_bytes[256];

void foreign_static_object() {
  announce(static_bytes + 64);
  std::free(opaque(static_bytes + 64));
}

void foreign_stack() {
  alignas(64) char local[256] = {};
  announce(local + 64);
  std::free(opaque(local + 64));
}

void foreign_mapping() {
  void* mapping = mmap(nullptr, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  announce(static_cast<char*>(mapping) + 64);
  std::free(opaque(static_cast<char*>(mapping) + 64));
}

struct Case {
  const char* name;
  void (*misuse)();
};

constexpr Case kCases[] = {
    {"double_free_small", double_free_small},
    {"double_free_medium", double_free_medium},
    {"double_free_wide", double_free_wide},
    {"double_free_large", double_free_large},
    {"double_free_only_block", double_free_only_block},
    {"double_free_after_others", double_free_after_others},
    {"owner_then_other_thread", owner_then_other_thread},
    {"other_thread_then_owner", other_thread_then_owner},
    {"other_thread_twice", other_thread_twice},
    {"two_other_threads", two_other_threads},
    {"twice_after_owner_ended", twice_after_owner_ended},
    {"owner_freed_it_and_ended", owner_freed_it_and_ended},
    {"delete_after_free", delete_after_free},
    {"realloc_after_free", realloc_after_free},
    {"sized_free_after_free", sized_free_after_free},
    {"interior_small", interior_small},
    {"interior_medium", interior_medium},
    {"interior_wide", interior_wide},
    {"interior_large", interior_large},
    {"misaligned_small", misaligned_small},
    {"misaligned_medium", misaligned_medium},
    {"misaligned_large", misaligned_large},
    {"realloc_inside", realloc_inside},
    {"interior_from_another_thread", interior_from_another_thread},
    {"tail_slack", tail_slack},
    {"metadata_pointer", metadata_pointer},
    {"never_handed_out", never_handed_out},
    {"sized_free_too_large", sized_free_too_large},
    {"sized_delete_too_large", sized_delete_too_large},
    {"sized_free_of_large_block", sized_free_of_large_block},
    {"foreign_static_object", foreign_static_object},
    {"foreign_stack", foreign_stack},
    {"foreign_mapping", foreign_mapping},
};

bool heap_is_sound() {
  for (const size_t max_size : {size_t{500}, size_t{50'000}, 2 * kMiB}) {
    BlockSet blocks({.slots = 500, .max_size = max_size, .max_total = 64 * kMiB}, max_size);
    for (int i = 0; i < 10'000; ++i) {
      if (!blocks.step()) return false;
    }
    if (!blocks.free_all()) return false;
  }
  return problem_with_statistics().empty();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 || !line_loaded()) {
    std::fprintf(stderr, "usage: LD_PRELOAD=<a line> %s CASE\n", argv[0]);
    return 2;
  }
  for (const Case& c : kCases) {
    if (std::strcmp(c.name, argv[1]) != 0) continue;
    c.misuse();
    std::printf("survived\n");
    std::fflush(stdout);
    if (heap_is_sound()) std::printf("sound\n");
    hakozuna_statistics s{};
    api().get_statistics(&s, sizeof s);
    std::printf("misuses %" PRIu64 "\n", s.misuses);
    return 0;
  }
  std::fprintf(stderr, "no case called %s\n", argv[1]);
  return 2;
}
