// hakozuna/hakozuna.h, but for the sized frees (sized.cpp).
#include <errno.h>
#include <string.h>

#include "common/api/api.h"
#include "common/api/statistics.h"
#include "common/core/options.h"

using hakozuna::api::ServedLine;

HAKOZUNA_EXPORT int hakozuna_version(void) {
  return HAKOZUNA_VERSION_MAJOR * 10000 + HAKOZUNA_VERSION_MINOR * 100 + HAKOZUNA_VERSION_PATCH;
}

HAKOZUNA_EXPORT const char* hakozuna_line_name(void) { return ServedLine::kName; }

HAKOZUNA_EXPORT hakozuna_verdict hakozuna_classify(const void* address) {
  return static_cast<hakozuna_verdict>(ServedLine::classify(address).verdict);
}

HAKOZUNA_EXPORT size_t hakozuna_usable_size(const void* block) {
  return ServedLine::usable_size(block);
}

HAKOZUNA_EXPORT size_t hakozuna_good_size(size_t size) { return ServedLine::good_size(size); }

HAKOZUNA_EXPORT int hakozuna_trim(size_t keep_bytes) { return ServedLine::trim(keep_bytes) != 0; }

HAKOZUNA_EXPORT void hakozuna_thread_flush(void) { ServedLine::thread_flush(); }

HAKOZUNA_EXPORT int hakozuna_get_statistics(hakozuna_statistics* statistics, size_t size) {
  if (!statistics || size < sizeof statistics->struct_size) return EINVAL;
  hakozuna_statistics all = hakozuna::api::collect_statistics();
  // A caller with an older header has a shorter struct, one with a newer header finds the rest as it was.
  all.struct_size = size < sizeof all ? size : sizeof all;
  memcpy(statistics, &all, all.struct_size);
  return 0;
}

HAKOZUNA_EXPORT int hakozuna_get_class_statistics(size_t index,
                                                  hakozuna_class_statistics* statistics) {
  if (!statistics) return EINVAL;
  return ServedLine::collect_class_statistics(index, *statistics) ? 0 : ERANGE;
}

HAKOZUNA_EXPORT size_t hakozuna_statistics_json(char* buffer, size_t capacity) {
  return hakozuna::api::write_statistics_json(buffer, capacity);
}

HAKOZUNA_EXPORT int hakozuna_print_statistics(int fd) {
  return hakozuna::api::print_statistics_table(fd);
}

HAKOZUNA_EXPORT int hakozuna_option_set(const char* name, const char* value) {
  return hakozuna::core::set_option(name, value);
}

HAKOZUNA_EXPORT int hakozuna_option_get(const char* name, char* buffer, size_t capacity) {
  return hakozuna::core::get_option(name, buffer, capacity);
}
