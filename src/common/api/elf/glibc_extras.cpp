// What glibc offers beside allocation, answered from our own statistics.
#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <unistd.h>

#include "common/api/any_usable_size.h"
#include "common/api/api.h"
#include "common/api/statistics.h"
#include "common/os/underlying.h"

using hakozuna::api::ServedLine;

HAKOZUNA_EXPORT size_t malloc_usable_size(void* block) noexcept {
  return hakozuna::api::any_usable_size(block);
}

HAKOZUNA_EXPORT int malloc_trim(size_t keep_bytes) noexcept {
  return ServedLine::trim(keep_bytes) != 0;
}

// glibc's words for our figures: the "arena" is everything but the large blocks, which are "mmapped". The number of those (hblks) is
// not counted and stays 0, as do the fields about fast bins, which we do not have.
HAKOZUNA_EXPORT struct mallinfo2 mallinfo2(void) noexcept {
  const hakozuna_statistics all = hakozuna::api::collect_statistics();
  struct mallinfo2 info = {};
  info.hblkhd = all.large_live;
  info.uordblks = all.live - all.large_live;
  info.fordblks = all.cached + all.free_in_spans;
  info.arena = info.uordblks + info.fordblks;
  info.keepcost = all.cached;
  hakozuna_class_statistics one;
  for (size_t i = 0; ServedLine::collect_class_statistics(i, one); ++i) info.ordblks += one.free_slots;
  return info;
}

namespace {

int saturate(size_t value) { return value > INT_MAX ? INT_MAX : static_cast<int>(value); }

}  // namespace

// The same in ints: what does not fit is INT_MAX, where glibc's wraps around.
HAKOZUNA_EXPORT struct mallinfo mallinfo(void) noexcept {
  const struct mallinfo2 wide = mallinfo2();
  struct mallinfo info = {};
  info.arena = saturate(wide.arena);
  info.ordblks = saturate(wide.ordblks);
  info.hblkhd = saturate(wide.hblkhd);
  info.uordblks = saturate(wide.uordblks);
  info.fordblks = saturate(wide.fordblks);
  info.keepcost = saturate(wide.keepcost);
  return info;
}

// The parameters tune parts of glibc's allocator that a line does not have. Programs set them as hints and some stop if one is
// refused, so those that exist are accepted; our own options are hakozuna_option_set().
HAKOZUNA_EXPORT int mallopt(int parameter, int) noexcept {
  switch (parameter) {
    case M_MXFAST:
    case M_TRIM_THRESHOLD:
    case M_TOP_PAD:
    case M_MMAP_THRESHOLD:
    case M_MMAP_MAX:
    case M_CHECK_ACTION:
    case M_PERTURB:
    case M_ARENA_TEST:
    case M_ARENA_MAX:
      return 1;
    default:
      return 0;
  }
}

HAKOZUNA_EXPORT int malloc_info(int options, FILE* stream) noexcept {
  if (options != 0) return EINVAL;
  return hakozuna::api::print_malloc_info_xml(stream);
}

HAKOZUNA_EXPORT void malloc_stats(void) noexcept {
  hakozuna::api::print_statistics_table(STDERR_FILENO);
}

extern "C" {
struct mallinfo __libc_mallinfo(void) noexcept HAKOZUNA_EXPORT_ALIAS("mallinfo");
int __libc_mallopt(int parameter, int value) noexcept HAKOZUNA_EXPORT_ALIAS("mallopt");
}
