#include "fuzz/api_fuzzer.h"

#include <malloc.h>

#include <bit>
#include <cstdlib>
#include <new>

#include "fuzz/freeing_thread.h"
#include "fuzz/interval_map.h"
#include "support/line_under_test.h"
#include "support/opaque.h"
#include "support/pattern.h"

namespace hakozuna::test {
namespace {

constexpr size_t kMaxBlocks = 4096;
constexpr uint64_t kMaxTotal = uint64_t{256} << 20;  // usable bytes of all live blocks

// Numbers out of the fuzzer's bytes; zeros when they are used up.
class Input {
 public:
  Input(const uint8_t* bytes, size_t count) : bytes_(bytes), left_(count) {}
  bool empty() const { return left_ == 0; }
  size_t byte() { return left_ == 0 ? 0 : (--left_, *bytes_++); }
  size_t word() {
    const size_t low = byte();
    return low | byte() << 8;
  }
  // 0 to 8 MiB: the first byte chooses the power of two, small ones more often; the word what lies
  // between.
  size_t size() {
    const size_t choice = byte();
    const size_t shift = choice < 192 ? choice % 14 : choice % 24;
    const size_t top = size_t{1} << shift;
    return top - 1 + (word() * top >> 16);
  }
  size_t alignment() { return size_t{1} << byte() % 18; }

 private:
  const uint8_t* bytes_;
  size_t left_;
};

}  // namespace

class ApiFuzzer::Oracle {
 public:
  Oracle() : blocks_(kMaxBlocks) { live_before_ = live_now(); }

  const char* step(Input& input) {
    switch (input.byte() % 20) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
        return by_malloc(input.size());
      case 5:
        return by_calloc(input.byte(), input.size() >> 8);
      case 6:
        return by_alignment(input.alignment(), input.size(), input.byte() % 3);
      case 7:
        return by_new(input.alignment(), input.size(), input.byte() % 2 != 0);
      case 8:
      case 9:
        return resize(input.word(), input.size());
      case 10:
      case 11:
      case 12:
        return release(input.word(), nullptr);
      case 13:
      case 14:
        return release(input.word(), &freeing_);
      case 15:
        return release_sized(input.word());
      case 16:
        return look_at(input.word(), input.word());
      case 17:
        return give_back(input.byte());
      case 18:
        return quiescent();
      default:
        return release_many(input.word(), input.byte());
    }
  }

  const char* finish() {
    while (blocks_.size() > 0) {
      if (const char* problem = release(blocks_.size() - 1, nullptr)) return problem;
    }
    return quiescent();
  }

 private:
  static uint64_t live_now() {
    hakozuna_statistics s{};
    if (line_loaded()) api().get_statistics(&s, sizeof s);
    return s.live;
  }

  bool has_room(size_t size) const {
    return !blocks_.full() && blocks_.usable_total() + size <= kMaxTotal;
  }

  // Takes a new block into the map and marks it.
  const char* add(void* memory, size_t size, size_t alignment) {
    if (memory == nullptr) return "an allocation failed with memory left";
    const auto start = reinterpret_cast<uintptr_t>(memory);
    const size_t usable = malloc_usable_size(memory);
    if (start % 16 != 0 || start % alignment != 0) return "a block is not aligned";
    if (usable < size) return "the usable size is less than what was asked";
    if (line_loaded() && api().classify(memory) != HAKOZUNA_VALID)
      return "a new block is not valid";
    const LiveBlock block{start, usable, size, alignment, ++seed_};
    if (!blocks_.insert(block)) return "a block overlaps another";
    fill_sparse(memory, usable, block.seed);
    return nullptr;
  }

  const char* by_malloc(size_t size) {
    return has_room(size) ? add(opaque(std::malloc(size)), size, 1) : nullptr;
  }

  const char* by_calloc(size_t count, size_t size) {
    if (!has_room(count * size)) return nullptr;
    void* memory = opaque(std::calloc(count, size));
    if (memory != nullptr && !is_zero(memory, count * size))
      return "calloc gave memory that is not zero";
    return add(memory, count * size, 1);
  }

  const char* by_alignment(size_t alignment, size_t size, size_t function) {
    if (!has_room(size + alignment)) return nullptr;
    if (function == 0) return add(opaque(aligned_alloc(alignment, size)), size, alignment);
    if (function == 1) return add(opaque(memalign(alignment, size)), size, alignment);
    void* memory = nullptr;
    if (alignment < sizeof(void*)) alignment = sizeof(void*);
    if (posix_memalign(&memory, alignment, size) != 0)
      return "posix_memalign failed with memory left";
    return add(memory, size, alignment);
  }

  const char* by_new(size_t alignment, size_t size, bool is_aligned) {
    if (!has_room(size + alignment)) return nullptr;
    if (!is_aligned) return add(opaque(::operator new(size, std::nothrow)), size, 1);
    return add(opaque(::operator new (size, std::align_val_t{alignment}, std::nothrow)), size,
               alignment);
  }

  // Checks a block that is about to go or to change.
  const char* check(const LiveBlock& block) {
    const auto* memory = reinterpret_cast<const void*>(block.start);
    if (malloc_usable_size(const_cast<void*>(memory)) != block.usable)
      return "the usable size changed";
    if (!has_sparse(memory, block.usable, block.seed)) return "contents were overwritten";
    if (line_loaded() && api().classify(memory) != HAKOZUNA_VALID)
      return "a live block is not valid";
    return nullptr;
  }

  const char* resize(size_t choice, size_t size) {
    if (blocks_.size() == 0 || !has_room(size) || size == 0) return nullptr;
    const size_t index = choice % blocks_.size();
    const LiveBlock block = blocks_[index];
    if (const char* problem = check(block)) return problem;
    blocks_.erase(index);
    void* memory = opaque(std::realloc(reinterpret_cast<void*>(block.start), size));
    if (memory == nullptr) return "realloc failed with memory left";
    // A shrink keeps what was asked for, and contents up to there.
    const size_t kept = size < block.requested ? size : block.requested;
    if (!has_sparse(memory, block.usable, block.seed, kept)) return "realloc lost contents";
    return add(memory, size, 1);
  }

  template <class Free>
  const char* release_by(size_t choice, Free free_block) {
    if (blocks_.size() == 0) return nullptr;
    const size_t index = choice % blocks_.size();
    const LiveBlock block = blocks_[index];
    if (const char* problem = check(block)) return problem;
    blocks_.erase(index);
    free_block(reinterpret_cast<void*>(block.start), block);
    if (detection().exact_classify &&
        api().classify(reinterpret_cast<const void*>(block.start)) == HAKOZUNA_VALID) {
      return "a freed block is still valid";
    }
    return nullptr;
  }

  const char* release(size_t choice, FreeingThread* elsewhere) {
    return release_by(choice, [elsewhere](void* memory, const LiveBlock&) {
      elsewhere == nullptr ? std::free(memory) : elsewhere->free_there(memory);
    });
  }

  const char* release_sized(size_t choice) {
    return release_by(choice, [](void* memory, const LiveBlock& block) {
      if (!line_loaded()) return std::free(memory);
      if (block.alignment > 16)
        return api().free_aligned_sized(memory, block.alignment, block.requested);
      api().free_sized(memory, block.requested);
    });
  }

  // Neighbours in the map are neighbours in memory: this empties whole spans.
  const char* release_many(size_t first, size_t count) {
    for (size_t i = 0; i < count && blocks_.size() > 0; ++i) {
      if (const char* problem =
              release(first < blocks_.size() ? first : blocks_.size() - 1, nullptr))
        return problem;
    }
    return nullptr;
  }

  // An address inside a block is never a block.
  const char* look_at(size_t choice, size_t offset) {
    if (!detection().exact_classify || blocks_.size() == 0) return nullptr;
    const LiveBlock& block = blocks_[choice % blocks_.size()];
    if (const char* problem = check(block)) return problem;
    offset = 1 + offset % block.usable;
    if (offset == block.usable) return nullptr;
    const hakozuna_verdict expected = offset % 16 == 0 ? HAKOZUNA_INTERIOR : HAKOZUNA_MISALIGNED;
    return api().classify(reinterpret_cast<const void*>(block.start + offset)) == expected
               ? nullptr
               : "classify was wrong about an address inside a block";
  }

  // Must change nothing that can be seen.
  const char* give_back(size_t how) {
    if (how < 16) {
      malloc_trim(how * 65536);
    } else if (how < 64 && line_loaded()) {
      api().thread_flush();
    }
    return nullptr;
  }

  const char* quiescent() {
    if (!line_loaded()) return nullptr;
    if (!problem_with_statistics().empty()) return "the identity of the statistics does not hold";
    if (live_now() - live_before_ != blocks_.usable_total())
      return "live is not the sum of the live blocks";
    return nullptr;
  }

  FreeingThread freeing_;
  IntervalMap blocks_;
  uint64_t live_before_ = 0;
  uint64_t seed_ = 0;
};

ApiFuzzer::ApiFuzzer() {
  // What the first calls of the libraries allocate is not the oracle's.
  (void)problem_with_statistics();
  (void)detection();
  oracle_ = std::make_unique<Oracle>();
}

ApiFuzzer::~ApiFuzzer() = default;

const char* ApiFuzzer::run(const uint8_t* bytes, size_t count) {
  Input input(bytes, count);
  while (!input.empty()) {
    if (const char* problem = oracle_->step(input)) return problem;
  }
  return nullptr;
}

const char* ApiFuzzer::finish() { return oracle_->finish(); }

}  // namespace hakozuna::test
