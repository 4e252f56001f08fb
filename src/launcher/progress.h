// Tells on standard error how far a long command is: one line that is rewritten on a terminal,
// plain lines elsewhere.
#pragma once

#include <string>

namespace hakozuna::launcher {

class Progress {
 public:
  explicit Progress(int steps);
  ~Progress();  // clears the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void begin_step(const std::string& what);

 private:
  const int steps_;
  int step_ = 0;
  const bool terminal_;
};

}  // namespace hakozuna::launcher
