// Reads of plain words that another thread may be writing.
#pragma once

namespace hakozuna {

// Some value `word` has had: its writer stores it plainly, because it is the only one and in a hurry, and the reader can do with any
// answer, or knows that the part it looks at does not change meanwhile. Relaxed: orders nothing. Not shown to ThreadSanitizer, which
// would report each such pair; races that are not meant do not come here.
template <class T>
__attribute__((no_sanitize("thread"))) inline T racing_read(const T& word) {
  T value;
  __atomic_load(&word, &value, __ATOMIC_RELAXED);
  return value;
}

}  // namespace hakozuna
