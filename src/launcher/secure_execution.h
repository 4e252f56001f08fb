// Whether the kernel starts a program in secure-execution mode, in which the dynamic loader ignores
// LD_PRELOAD paths.
#pragma once

#include <filesystem>
#include <string>

namespace hakozuna::launcher {

struct SecureExecution {
  bool applies = false;  // for the user who asks
  std::string
      why;  // "it is setuid to user 33", "it has file capabilities"; empty if nothing of the kind
};

SecureExecution examine_secure_execution(const std::filesystem::path& program);

}  // namespace hakozuna::launcher
