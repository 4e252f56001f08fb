// GetLastError() belongs to the program, as errno does: a program may free between a failed call and the question why it failed.
#pragma once

#include <windows.h>

namespace hakozuna::os {

class PreserveLastError {
 public:
  PreserveLastError() : saved_(GetLastError()) {}
  ~PreserveLastError() { SetLastError(saved_); }
  PreserveLastError(const PreserveLastError&) = delete;
  PreserveLastError& operator=(const PreserveLastError&) = delete;

 private:
  const DWORD saved_;
};

}  // namespace hakozuna::os
