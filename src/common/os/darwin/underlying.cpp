// The allocator underneath on macOS: the zone that the system finds for a block.
#include "common/os/underlying.h"

#include <errno.h>
#include <malloc/malloc.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/base/text.h"
#include "common/os/darwin/foreign_blocks.h"

namespace hakozuna::os {
namespace {

struct SystemZones {
  static malloc_zone_t* zone_of(const void* block) { return malloc_zone_from_ptr(block); }
  static void free(malloc_zone_t* zone, void* block) { malloc_zone_free(zone, block); }
  static void* realloc(malloc_zone_t* zone, void* block, size_t size) { return malloc_zone_realloc(zone, block, size); }
  static size_t size(malloc_zone_t* zone, const void* block) { return zone->size(zone, block); }
  [[noreturn]] static void unknown(const char* operation, const void* block) {
    FixedText<160> line;
    line.text("hakozuna: ").text(operation).text(" of ").address(block);
    line.text(", which is not our memory, and belongs to no malloc zone");
    line.write_line(STDERR_FILENO);
    abort();
  }
};

using Foreign = ForeignBlocks<SystemZones>;

}  // namespace

void underlying_free(void* block) {
  const int saved_errno = errno;
  Foreign::free(block);
  errno = saved_errno;
}

void* underlying_realloc(void* block, size_t size) { return Foreign::realloc(block, size); }

size_t underlying_usable_size(const void* block) {
  const int saved_errno = errno;
  const size_t bytes = Foreign::usable_size(block);
  errno = saved_errno;
  return bytes;
}

void* underlying_mallctl() { return nullptr; }

uint64_t foreign_free_count() { return Foreign::free_count(); }

}  // namespace hakozuna::os
