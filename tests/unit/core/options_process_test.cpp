// The options of a process that has just been started: with an environment the C library does not
// show yet, and with privileges that whoever started it does not have.
#include <gtest/gtest.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "common/core/options.h"
#include "unit/core/child_process.h"

namespace hakozuna::core {
namespace {

// This program, started again with the variable, does one thing before its main and exits with an
// answer.
constexpr const char* kRole = "OPTIONS_TEST_ROLE";
constexpr int kNotSecure = 77;

[[gnu::constructor]] void play_role() {
  const char* const role = getenv(kRole);
  if (!role) return;
  if (std::string(role) == "secure" && getauxval(AT_SECURE) == 0) _exit(kNotSecure);
  if (std::string(role) == "hidden") environ = nullptr;
  initialise_options();
  _exit(purge_delay_ms() == 9 ? 9 : purge_delay_ms() == 500 ? 50 : 1);
}

test::Ending start(const std::string& program, const std::string& role) {
  return test::run_in_child([&] {
    std::string role_setting = std::string(kRole) + "=" + role;
    std::string long_setting = "LONG=" + std::string(20'000, 'x');
    std::string good_setting = "HAKOZUNA_PURGE_DELAY_MS=9";
    std::string bad_setting = "HAKOZUNA_LIMIT=lots";
    char* entries[] = {role_setting.data(), long_setting.data(), good_setting.data(),
                       bad_setting.data(), nullptr};
    char name[] = "program";
    char* arguments[] = {name, nullptr};
    execve(program.c_str(), arguments, entries);
    _exit(2);
  });
}

constexpr const char* kComplaint =
    "hakozuna: HAKOZUNA_LIMIT=\"lots\": must be 0..256TiB; using 0\n";

TEST(OptionsOfAProcess, AreReadFromItsEnvironment) {
  const test::Ending ending = start("/proc/self/exe", "plain");
  EXPECT_EQ(ending.exit_code, 9);
  EXPECT_EQ(ending.errors, kComplaint);
}

TEST(OptionsOfAProcess, AreReadFromTheKernelIfLibcDoesNotShowThem) {
  const test::Ending ending = start("/proc/self/exe", "hidden");
  EXPECT_EQ(ending.exit_code, 9);
  EXPECT_EQ(ending.errors, kComplaint);
}

TEST(OptionsOfAProcess, AreIgnoredWithForeignPrivileges) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to make a file setuid";
  namespace fs = std::filesystem;
  char folder[] = "/tmp/hakozuna_options_XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string copy = std::string(folder) + "/program";
  fs::copy_file("/proc/self/exe", copy);
  constexpr uid_t kNobody = 65534;
  ASSERT_EQ(chmod(folder, 0755), 0);
  ASSERT_EQ(chown(copy.c_str(), kNobody, kNobody), 0);
  ASSERT_EQ(chmod(copy.c_str(), 04755), 0);
  const test::Ending ending = start(copy, "secure");
  fs::remove_all(folder);
  if (ending.exit_code == kNotSecure) GTEST_SKIP() << "setuid has no effect on this file system";
  EXPECT_EQ(ending.exit_code, 50);
  EXPECT_EQ(ending.errors, "");
}

}  // namespace
}  // namespace hakozuna::core
