// Reads of plain words that another thread may be writing.
#pragma once

namespace hakozuna {

// Some value `word` has had: its writer stores it plainly, because it is the only one and in a hurry, and the reader can do with any
// answer, or knows that the part it looks at does not change meanwhile. Relaxed, unless the caller names an order. Not shown to ThreadSanitizer, which
// would report each such pair; races that are not meant do not come here.
template <int kOrder = __ATOMIC_RELAXED, class T>
__attribute__((no_sanitize("thread"))) inline T racing_read(const T& word) {
  T value;
  __atomic_load(&word, &value, kOrder);
  return value;
}

}  // namespace hakozuna
