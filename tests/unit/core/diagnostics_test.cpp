#include "common/core/diagnostics.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>

#include "common/core/options.h"
#include "unit/core/child_process.h"

namespace hakozuna::core {
namespace {

using test::Ending;
using test::run_in_child;

const void* pointer(uintptr_t address) { return reinterpret_cast<const void*>(address); }

const Classification kFound = {Verdict::kFreed, 64, pointer(0x7f0000010000),
                               pointer(0x7e0000000040)};

void report() {
  report_misuse("hz8", Misuse::kDoubleFree, "free", pointer(0x7f0000010040), kFound);
}

constexpr const char* kLine =
    "hakozuna: hz8: double free of 0x7f0000010040 in free "
    "(class 64, span 0x7f0000010000, owner 0x7e0000000040)\n";

TEST(Misuse, AbortsByDefault) {
  const Ending ending = run_in_child(report);
  EXPECT_EQ(ending.signal, SIGABRT);
  EXPECT_EQ(ending.errors, kLine);
}

TEST(Misuse, AbortsAlsoWhereSigabrtIsBlockedAndIgnored) {
  const Ending ending = run_in_child([] {
    signal(SIGABRT, SIG_IGN);
    sigset_t abort_only;
    sigemptyset(&abort_only);
    sigaddset(&abort_only, SIGABRT);
    sigprocmask(SIG_BLOCK, &abort_only, nullptr);
    report();
  });
  EXPECT_EQ(ending.signal, SIGABRT);
}

TEST(Misuse, AbortsAlsoAfterTheHandlerReturned) {
  const Ending ending = run_in_child([] {
    signal(SIGABRT, [](int) {});
    report();
  });
  EXPECT_EQ(ending.signal, SIGABRT);
}

TEST(Misuse, IsReportedAndCounted) {
  const Ending ending = run_in_child([] {
    set_option("ON_ERROR", "report");
    report();
    report();
    _exit(static_cast<int>(10 + misuse_count()));
  });
  EXPECT_EQ(ending.exit_code, 12);
  EXPECT_EQ(ending.errors, std::string(kLine) + kLine);
}

TEST(Misuse, IsIgnoredAndCounted) {
  const Ending ending = run_in_child([] {
    set_option("ON_ERROR", "ignore");
    report();
    _exit(static_cast<int>(10 + misuse_count()));
  });
  EXPECT_EQ(ending.exit_code, 11);
  EXPECT_EQ(ending.errors, "");
}

TEST(MisuseNotes, AreReportedAtTheEndOfTheScope) {
  const Ending ending = run_in_child([] {
    set_option("ON_ERROR", "report");
    {
      MisuseNotes notes("hz8");
      for (int i = 0; i < 6; ++i) notes.add(Misuse::kDoubleFree, pointer(0x7f0000010040), kFound);
      warn("still in it");
    }
    _exit(static_cast<int>(10 + misuse_count()));
  });
  EXPECT_EQ(ending.exit_code, 16) << "those that there was no room for are counted";
  EXPECT_EQ(ending.errors, std::string("hakozuna: still in it\n") + kLine + kLine + kLine + kLine);
}

TEST(Misuse, ReadsTheOptionsIfNobodyHasYet) {
  const Ending ending = run_in_child([] {
    char setting[] = "HAKOZUNA_ON_ERROR=report";
    char* entries[] = {setting, nullptr};
    environ = entries;
    report();
  });
  EXPECT_EQ(ending.exit_code, 0);
  EXPECT_EQ(ending.errors, kLine);
}

TEST(Misuse, LeavesErrnoAlone) {
  const Ending ending = run_in_child([] {
    set_option("ON_ERROR", "report");
    errno = ENOTTY;
    report();
    if (errno != ENOTTY) _exit(1);
    close(STDERR_FILENO);
    report();
    if (errno != ENOTTY) _exit(2);
  });
  EXPECT_EQ(ending.exit_code, 0);
}

TEST(Misuse, LeavesOutWhatIsNotKnown) {
  const Ending ending = run_in_child([] {
    set_option("ON_ERROR", "report");
    const void* const address = pointer(0x1000);
    report_misuse("hz3", Misuse::kMetadataPointer, "realloc", address, {});
    report_misuse("hz3", Misuse::kTailSlack, "free", address,
                  {Verdict::kTailSlack, 0, pointer(0x2000), nullptr});
    report_misuse("hz3", Misuse::kWrongSize, "free_sized", address,
                  {Verdict::kValid, 32, nullptr, pointer(0x3000)});
  });
  EXPECT_EQ(ending.errors,
            "hakozuna: hz3: metadata pointer of 0x1000 in realloc\n"
            "hakozuna: hz3: tail slack of 0x1000 in free (span 0x2000)\n"
            "hakozuna: hz3: wrong size of 0x1000 in free_sized (class 32, owner 0x3000)\n");
}

TEST(Misuse, IsOneWrite) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);  // keeps the writes apart
  const Ending ending = run_in_child([&ends] {
    set_option("ON_ERROR", "report");
    dup2(ends[1], STDERR_FILENO);
    report();
  });
  close(ends[1]);
  EXPECT_EQ(ending.exit_code, 0);
  char packet[512];
  const ssize_t got = read(ends[0], packet, sizeof packet);
  ASSERT_GT(got, 0);
  EXPECT_EQ(std::string(packet, static_cast<size_t>(got)), kLine);
  EXPECT_EQ(read(ends[0], packet, sizeof packet), 0);
  close(ends[0]);
}

TEST(Misuse, HasANameForEveryVerdict) {
  EXPECT_STREQ(name_of(misuse_of(Verdict::kFreed)), "double free");
  EXPECT_STREQ(name_of(misuse_of(Verdict::kInterior)), "interior pointer");
  EXPECT_STREQ(name_of(misuse_of(Verdict::kMisaligned)), "misaligned pointer");
  EXPECT_STREQ(name_of(misuse_of(Verdict::kTailSlack)), "tail slack");
  EXPECT_STREQ(name_of(misuse_of(Verdict::kMetadata)), "metadata pointer");
  EXPECT_STREQ(name_of(Misuse::kWrongSize), "wrong size");
}

TEST(Fatal, IsOneLineAndAborts) {
  const Ending with =
      run_in_child([] { fatal("hz8", "no memory for its records", pointer(0x40)); });
  EXPECT_EQ(with.signal, SIGABRT);
  EXPECT_EQ(with.errors, "hakozuna: hz8: no memory for its records at 0x40\n");
  const Ending without = run_in_child([] { fatal("hz8", "no memory for its records", nullptr); });
  EXPECT_EQ(without.signal, SIGABRT);
  EXPECT_EQ(without.errors, "hakozuna: hz8: no memory for its records\n");
}

TEST(Warn, IsOneLineHoweverLong) {
  const std::string endless(100'000, 'x');
  const Ending ending = run_in_child([&endless] {
    errno = ENOTTY;
    warn("careful");
    warn(endless.c_str());
    if (errno != ENOTTY) _exit(1);
  });
  EXPECT_EQ(ending.exit_code, 0);
  EXPECT_EQ(ending.errors.rfind("hakozuna: careful\nhakozuna: xxx", 0), 0u);
  EXPECT_EQ(ending.errors.back(), '\n');
  EXPECT_LE(ending.errors.size(), 1024u);
}

}  // namespace
}  // namespace hakozuna::core
