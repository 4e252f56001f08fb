// malloc and free are no cancellation points, but write(), open() and their like are.
#pragma once

#if !defined(_WIN32)
#include <pthread.h>
#endif

namespace hakozuna {

// While it lives, a cancelled thread goes on. For the few places where an allocation or a free may
// end in a system call that POSIX lets a cancelled thread die in.
#if defined(_WIN32)
class CancellationOff {  // threads are not cancelled there
 public:
  CancellationOff() {}
};
#else
class CancellationOff {
 public:
  CancellationOff() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~CancellationOff() { pthread_setcancelstate(before_, nullptr); }
  CancellationOff(const CancellationOff&) = delete;
  CancellationOff& operator=(const CancellationOff&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};
#endif

}  // namespace hakozuna
