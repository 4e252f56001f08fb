#include "launcher/progress.h"

#include <unistd.h>

#include <cstdio>

namespace hakozuna::launcher {

namespace {
constexpr const char* kClearLine = "\r\033[K";
}

Progress::Progress(int steps) : steps_(steps), terminal_(::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (terminal_ && step_ > 0) std::fputs(kClearLine, stderr);
}

void Progress::begin_step(const std::string& what) {
  ++step_;
  std::fprintf(stderr, "%s[%d/%d] %s%s", terminal_ ? kClearLine : "", step_, steps_, what.c_str(),
               terminal_ ? "" : "\n");
  std::fflush(stderr);
}

}  // namespace hakozuna::launcher
