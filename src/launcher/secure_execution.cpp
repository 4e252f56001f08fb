#include "launcher/secure_execution.h"

#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace hakozuna::launcher {

namespace {

// A mount option or a process flag can switch set-id bits and file capabilities off altogether.
bool privileges_are_disabled(const std::filesystem::path& program) {
  struct statvfs mount;
  const bool nosuid = ::statvfs(program.c_str(), &mount) == 0 && (mount.f_flag & ST_NOSUID);
  return nosuid || ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
}

}  // namespace

SecureExecution examine_secure_execution(const std::filesystem::path& program) {
  SecureExecution result;
  struct stat status;
  if (::stat(program.c_str(), &status) != 0) return result;

  const auto add = [&](bool applies, const std::string& why) {
    result.why += (result.why.empty() ? "" : " and ") + why;
    result.applies |= applies;
  };
  // The kernel compares real and effective ids after the start: a set-id bit that changes nothing
  // does not count.
  if (status.st_mode & S_ISUID) {
    add(status.st_uid != ::getuid(), "it is setuid to user " + std::to_string(status.st_uid));
  }
  if ((status.st_mode & S_ISGID) && (status.st_mode & S_IXGRP)) {
    add(status.st_gid != ::getgid(), "it is setgid to group " + std::to_string(status.st_gid));
  }
  // Root has every capability already, so file capabilities give it nothing.
  if (::getxattr(program.c_str(), "security.capability", nullptr, 0) > 0) {
    add(::getuid() != 0, "it has file capabilities");
  }
  if (privileges_are_disabled(program)) result.applies = false;
  return result;
}

}  // namespace hakozuna::launcher
