// One clear line for everything that is wrong, written without allocating and without a lock the
// caller may hold.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/core/line.h"

namespace hakozuna::core {

// What a caller did wrong. The name in the message is `name_of(misuse)`: "double free", "interior
// pointer", ...
enum class Misuse : uint8_t {
  kDoubleFree,  // the block is not allocated (freed before, or never handed out)
  kInteriorPointer,
  kMisalignedPointer,
  kTailSlack,
  kMetadataPointer,  // in our memory, where no block can be
  kWrongSize,        // sized free with a size that cannot belong to the block
};
const char* name_of(Misuse misuse);

// Which misuse freeing a pointer with this verdict is; never called with kValid or kMiss.
Misuse misuse_of(Verdict verdict);

// Reports misuse of `address` by the function `operation` ("free", "realloc", ...) as
// HAKOZUNA_ON_ERROR says:
//   abort (default)  one line on stderr, then abort()
//   report           one line, then the call is ignored
//   ignore           counted only
// The line reads `hakozuna: hz8: double free of 0x7f... in free (class 64, span 0x7f..., owner
// 0x...)`; what is not known is left out. Preserves errno.
[[gnu::cold, gnu::noinline]] void report_misuse(const char* line_name, Misuse misuse,
                                                const char* operation, const void* address,
                                                const Classification& found);

// Misuse in "free" that is met while a lock is held, or lists are half changed. It is reported when this goes out of scope, after those: a
// SIGABRT handler of the program may allocate, or fork. Declared before the guard of the lock.
class MisuseNotes {
 public:
  explicit MisuseNotes(const char* line_name) : line_name_(line_name) {}
  ~MisuseNotes() {
    if (count_ != 0) [[unlikely]] report();
  }
  MisuseNotes(const MisuseNotes&) = delete;
  MisuseNotes& operator=(const MisuseNotes&) = delete;

  // More than four at a time are counted only.
  [[gnu::cold]] void add(Misuse misuse, const void* address, const Classification& found);

 private:
  struct Note {
    Misuse misuse;
    const void* address;
    Classification found;
  };
  static constexpr uint32_t kMost = 4;

  [[gnu::cold]] void report() const;

  const char* const line_name_;
  uint32_t count_ = 0;
  union {
    Note notes_[kMost];  // the first count_ of them; the rest is not written to
  };
};

// How many were reported or ignored so far (statistics).
uint64_t misuse_count();

// Something is so wrong that the process cannot go on: `hakozuna: hz8: <message> at 0x...`, without
// the address if it is null, then abort(). For what a checked build alone looks for there is
// base/check.h.
[[noreturn, gnu::cold]] void fatal(const char* line_name, const char* message, const void* address);

// A line on stderr that is no error of the caller: "hakozuna: " is put before it, a newline after
// it.
[[gnu::cold]] void warn(const char* message);

}  // namespace hakozuna::core
