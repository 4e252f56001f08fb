#include "faulty/faulty.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

namespace hakozuna::faulty {
namespace {

struct Name {
  const char* name;
  Fault fault;
};
constexpr Name kNames[] = {
    {"overlap", Fault::kOverlap},
    {"twice", Fault::kTwice},
    {"alignment", Fault::kAlignment},
    {"usable_too_large", Fault::kUsableTooLarge},
    {"usable_too_small", Fault::kUsableTooSmall},
    {"dirty_calloc", Fault::kDirtyCalloc},
    {"resize", Fault::kResize},
    {"leak", Fault::kLeak},
    {"identity", Fault::kIdentity},
    {"errno", Fault::kErrno},
    {"free_errno", Fault::kFreeErrno},
    {"zero_size", Fault::kZeroSize},
    {"good_size", Fault::kGoodSize},
};

Fault read_fault() {
  const char* const wanted = getenv("HAKOZUNA_TEST_FAULT");  // does not allocate
  if (!wanted) return Fault::kNone;
  for (const Name& known : kNames) {
    if (strcmp(known.name, wanted) == 0) return known.fault;
  }
  abort();  // a test that names no fault would test nothing
}

// Sizes that the test program's own code hardly ever asks for: it has to live through the fault to tell of it.
bool is_spoiled(size_t size) { return size >= 1000 && size <= 200'000; }

}  // namespace

Fault planted() noexcept {
  // The loader allocates before there is an environment, and before there is a second thread.
  static Fault fault = Fault::kNone;
  static bool is_known = false;
  if (!is_known && environ) {
    fault = read_fault();
    is_known = true;
  }
  return fault;
}

void* Faulty::allocate(size_t size) noexcept {
  switch (planted()) {
    case Fault::kOverlap:
      // Room for half of it: what is written at its end lands in the next block.
      return Bump::allocate(is_spoiled(size) ? size / 2 : size);
    case Fault::kTwice: {
      static void* last = nullptr;
      static size_t last_size = 0;
      if (!is_spoiled(size)) return Bump::allocate(size);
      if (last && last_size == size) {
        void* const again = last;
        last = nullptr;
        if (Bump::classify(again).verdict == Verdict::kValid) return again;
      }
      last_size = size;
      return last = Bump::allocate(size);
    }
    case Fault::kErrno: {
      const int saved_errno = errno;
      void* const block = Bump::allocate(size);
      if (!block) errno = saved_errno;
      return block;
    }
    case Fault::kZeroSize: {
      static void* const nothing = Bump::allocate(0);
      return size == 0 ? nothing : Bump::allocate(size);
    }
    default:
      return Bump::allocate(size);
  }
}

void* Faulty::allocate_zeroed(size_t size) noexcept {
  void* const block = Bump::allocate_zeroed(size);
  if (block && planted() == Fault::kDirtyCalloc && is_spoiled(size)) static_cast<char*>(block)[size - 1] = 1;
  return block;
}

void* Faulty::allocate_aligned(size_t alignment, size_t size) noexcept {
  return planted() == Fault::kAlignment ? Bump::allocate(size) : Bump::allocate_aligned(alignment, size);
}

void Faulty::deallocate(void* block) noexcept {
  const Fault fault = planted();
  if (fault == Fault::kLeak && is_spoiled(Bump::usable_size(block))) return;
  // What was handed out twice is freed twice, and it is not this that is to be noticed.
  if ((fault == Fault::kTwice || fault == Fault::kZeroSize) && Bump::classify(block).verdict == Verdict::kFreed) return;
  Bump::deallocate(block);
  if (fault == Fault::kFreeErrno && block) errno = EBUSY;
}

void* Faulty::resize_without_copy(void* block, size_t size) noexcept {
  if (planted() != Fault::kResize || !is_spoiled(size)) return Bump::resize_without_copy(block, size);
  void* const other = Bump::allocate(size);
  if (other) Bump::deallocate(block);
  return other;
}

size_t Faulty::usable_size(const void* address) noexcept {
  const size_t bytes = Bump::usable_size(address);
  if (!is_spoiled(bytes)) return bytes;
  if (planted() == Fault::kUsableTooLarge) return bytes + 64;
  if (planted() == Fault::kUsableTooSmall) return bytes / 2;
  return bytes;
}

size_t Faulty::good_size(size_t size) noexcept {
  const size_t bytes = Bump::good_size(size);
  return planted() == Fault::kGoodSize ? bytes + 16 : bytes;
}

void Faulty::collect_statistics(hakozuna_statistics& statistics) noexcept {
  Bump::collect_statistics(statistics);
  if (planted() == Fault::kIdentity) statistics.live += 64;
}

}  // namespace hakozuna::faulty
