// errno belongs to the program: malloc that succeeds and free leave it as it was.
#pragma once

#include <errno.h>

namespace hakozuna::os {

class PreserveErrno {
 public:
  PreserveErrno() : saved_(errno) {}
  ~PreserveErrno() { errno = saved_; }
  PreserveErrno(const PreserveErrno&) = delete;
  PreserveErrno& operator=(const PreserveErrno&) = delete;

 private:
  const int saved_;
};

}  // namespace hakozuna::os
