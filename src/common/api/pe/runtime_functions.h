// The allocation functions of the C runtimes of Windows, over the line: what a runtime's own are replaced with.
//
// One set per runtime, because each has its own errno, and because a block that is not ours goes back to the runtime whose function was called.
// Aligned blocks with an offset stay the runtime's altogether: ours start where their slot starts.
#pragma once

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "common/api/api.h"
#include "common/base/bits.h"
#include "common/os/windows/runtimes.h"

extern "C" void* realloc(void* block, size_t size) noexcept;

namespace hakozuna::api {

template <size_t kRuntime>
class RuntimeFunctions {
 public:
  static void* malloc(size_t size) noexcept { return or_error(ServedLine::allocate(size)); }

  static void* calloc(size_t count, size_t size) noexcept {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) [[unlikely]] return fail(ENOMEM);
    return or_error(ServedLine::allocate_zeroed(bytes));
  }

  static void free(void* block) noexcept { ServedLine::deallocate(block); }

  static void* realloc(void* block, size_t size) noexcept {
    void* const resized = ::realloc(block, size);
    return size == 0 && block ? nullptr : or_error(resized);
  }

  static size_t msize(void* block) noexcept {
    if (!block) return fail(EINVAL), SIZE_MAX;
    return is_foreign(block) ? own().msize(block) : ServedLine::usable_size(block);
  }

  // Never moves: the runtimes' do not, and the block stays where it cannot grow.
  static void* expand(void* block, size_t size) noexcept {
    if (!block) return fail(EINVAL);
    if (is_foreign(block)) return own().expand(block, size);
    return size <= ServedLine::usable_size(block) ? block : fail(ENOMEM);
  }

  // As realloc(), and everything behind the old usable size is zero. calloc() zeroes whole slots, so blocks grown in steps are zero throughout.
  static void* recalloc(void* block, size_t count, size_t size) noexcept {
    if (block && is_foreign(block)) return own().recalloc(block, count, size);
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) return fail(ENOMEM);
    if (!block) return or_error(ServedLine::allocate_zeroed(bytes));
    const size_t before = ServedLine::usable_size(block);
    void* const resized = realloc(block, bytes);
    if (resized) zero_from(resized, before);
    return resized;
  }

  static void* aligned_malloc(size_t size, size_t alignment) noexcept {
    if (!is_power_of_two(alignment)) return fail(EINVAL);
    return or_error(ServedLine::allocate_aligned(alignment, size));
  }

  static void aligned_free(void* block) noexcept {
    if (block && is_foreign(block)) return own().aligned_free(block);
    ServedLine::deallocate(block);
  }

  static void* aligned_realloc(void* block, size_t size, size_t alignment) noexcept {
    if (!block) return aligned_malloc(size, alignment);
    if (is_foreign(block)) return own().aligned_realloc(block, size, alignment);
    if (!is_power_of_two(alignment)) return fail(EINVAL);
    return move_or_stay(block, size, alignment);
  }

  static void* aligned_recalloc(void* block, size_t count, size_t size, size_t alignment) noexcept {
    if (block && is_foreign(block)) return own().aligned_recalloc(block, count, size, alignment);
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) return fail(ENOMEM);
    if (!is_power_of_two(alignment)) return fail(EINVAL);
    const size_t before = block ? ServedLine::usable_size(block) : 0;
    void* const resized = block ? move_or_stay(block, bytes, alignment) : aligned_malloc(bytes, alignment);
    if (resized) zero_from(resized, before);
    return resized;
  }

  static size_t aligned_msize(void* block, size_t alignment, size_t offset) noexcept {
    if (!block) return fail(EINVAL), SIZE_MAX;
    return is_foreign(block) ? own().aligned_msize(block, alignment, offset) : ServedLine::usable_size(block);
  }

  static void* aligned_offset_realloc(void* block, size_t size, size_t alignment, size_t offset) noexcept {
    if (!block || is_foreign(block)) return own().aligned_offset_realloc(block, size, alignment, offset);
    return move_to_runtime(block, size, own().aligned_offset_malloc(size, alignment, offset), /*zero=*/false);
  }

  static void* aligned_offset_recalloc(void* block, size_t count, size_t size, size_t alignment, size_t offset) noexcept {
    if (!block || is_foreign(block)) return own().aligned_offset_recalloc(block, count, size, alignment, offset);
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) return fail(ENOMEM);
    return move_to_runtime(block, bytes, own().aligned_offset_malloc(bytes, alignment, offset), /*zero=*/true);
  }

 private:
  static const os::Runtime& own() { return os::runtimes[kRuntime]; }

  static bool is_foreign(const void* block) { return ServedLine::classify(block).verdict == Verdict::kMiss; }

  [[gnu::cold, gnu::noinline]] static void* fail(int error) {
    if (own().error_number) *own().error_number() = error;
    return nullptr;
  }
  static void* or_error(void* block) { return block ? block : fail(ENOMEM); }

  static void zero_from(void* block, size_t before) {
    const size_t now = ServedLine::usable_size(block);
    if (now > before) memset(static_cast<char*>(block) + before, 0, now - before);
  }

  // A size of 0 frees, as with realloc().
  static void* move_or_stay(void* block, size_t size, size_t alignment) {
    const size_t capacity = ServedLine::usable_size(block);
    const bool fits = size <= capacity && size >= capacity / 2 && is_aligned(reinterpret_cast<uintptr_t>(block), alignment);
    if (fits && size != 0) return block;
    void* const moved = size != 0 ? or_error(ServedLine::allocate_aligned(alignment, size)) : nullptr;
    if (!moved && size != 0) return nullptr;
    if (moved) memcpy(moved, block, size < capacity ? size : capacity);
    ServedLine::deallocate(block);
    return moved;
  }

  static void* move_to_runtime(void* block, size_t size, void* target, bool zero) {
    if (!target) return nullptr;
    const size_t capacity = ServedLine::usable_size(block);
    const size_t kept = size < capacity ? size : capacity;
    memcpy(target, block, kept);
    if (zero) memset(static_cast<char*>(target) + kept, 0, size - kept);
    ServedLine::deallocate(block);
    return target;
  }
};

}  // namespace hakozuna::api
