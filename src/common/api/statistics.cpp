#include "common/api/statistics.h"

#include <errno.h>

#include "common/api/api.h"
#include "common/base/bits.h"
#include "common/base/text.h"
#include "common/core/diagnostics.h"
#include "common/core/statistics.h"
#include "common/os/memory.h"
#include "common/os/process.h"
#include "common/os/underlying.h"

namespace hakozuna::api {
namespace {

// One of core's three forms, for this line: as snprintf.
using Form = decltype(&core::write_statistics_json);
size_t write(Form form, char* buffer, size_t capacity) {
  return form(buffer, capacity, ServedLine::kName, collect_statistics(),
              &ServedLine::collect_class_statistics);
}

// A whole text in memory from the system: the heap is what the text is about.
class Text {
 public:
  explicit Text(Form form) {
    // Other threads go on meanwhile, and the next text may be longer than the last.
    size_t length = write(form, nullptr, 0);
    do {
      unmap();
      capacity_ = align_up(length + length / 4 + 1, os::page_bytes());
      start_ = static_cast<char*>(os::map(capacity_, os::page_bytes()));
      if (!start_) return;
      length = write(form, start_, capacity_);
    } while (length >= capacity_);
    length_ = length;
  }
  ~Text() { unmap(); }
  Text(const Text&) = delete;
  Text& operator=(const Text&) = delete;

  const char* start() const { return start_; }  // null if the system has no memory
  size_t length() const { return length_; }

 private:
  void unmap() {
    if (start_) os::unmap(start_, capacity_);
  }

  char* start_ = nullptr;
  size_t capacity_ = 0;
  size_t length_ = 0;
};

// The errno of the program is not touched: the result says it all.
int print(Form form, int fd) {
  const int saved_errno = errno;
  const Text text(form);
  const int error = text.start() ? write_all(fd, {text.start(), text.length()}) : ENOMEM;
  errno = saved_errno;
  return error;
}

}  // namespace

hakozuna_statistics collect_statistics() {
  hakozuna_statistics all = {};
  ServedLine::collect_statistics(all);
  all.struct_size = sizeof all;
  all.foreign_frees = os::foreign_free_count();
  all.misuses = core::misuse_count();
  const os::PageFaults faults = os::page_faults();
  all.minor_faults = faults.minor;
  all.major_faults = faults.major;
  return all;
}

size_t write_statistics_json(char* buffer, size_t capacity) {
  return write(&core::write_statistics_json, buffer, capacity);
}

int print_statistics_json(int fd) { return print(&core::write_statistics_json, fd); }

int print_statistics_table(int fd) { return print(&core::write_statistics_table, fd); }

int print_malloc_info_xml(FILE* stream) {
  const Text text(&core::write_malloc_info_xml);
  if (!text.start()) return ENOMEM;
  return fwrite(text.start(), 1, text.length(), stream) == text.length() ? 0 : errno;
}

}  // namespace hakozuna::api
