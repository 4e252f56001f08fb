// Misuse is detected, named in one line, and stopped, reported or ignored as HAKOZUNA_ON_ERROR
// says, with the heap still whole.
#include <gtest/gtest.h>

#include <csignal>
#include <regex>
#include <string>

#include "support/line_under_test.h"
#include "support/process.h"
#include "support/settings.h"

namespace hakozuna::test {
namespace {

constexpr int kNotApplicable = 77;

struct MisuseCase {
  const char* name;           // of misuse_program
  const char* rule;           // as the message calls it, a regular expression
  const char* operation;      // the function the message names, a regular expression
  bool Detection::*promised;  // who detects it
};

// Which function a delete is called by is not for the program to know: the message may name free.
constexpr const char* kDelete = "(operator )?delete|free(_sized)?";

// When the last block of a span is freed, the span may be given up at once, and what it was is then
// no longer known.
constexpr const char* kFreedOrGone = "double free|metadata pointer";

const MisuseCase kCases[] = {
    {"double_free_small", "double free", "free", &Detection::double_free},
    {"double_free_medium", "double free", "free", &Detection::double_free},
    {"double_free_wide", "double free", "free", &Detection::double_free},
    {"double_free_large", kFreedOrGone, "free", &Detection::double_free},
    {"double_free_only_block", kFreedOrGone, "free", &Detection::double_free},
    {"double_free_after_others", kFreedOrGone, "free", &Detection::double_free},
    {"owner_then_other_thread", "double free", "free", &Detection::remote_double_free},
    {"other_thread_then_owner", "double free", "free", &Detection::remote_double_free},
    {"other_thread_twice", "double free", "free", &Detection::remote_double_free},
    {"two_other_threads", "double free", "free", &Detection::remote_double_free},
    {"twice_after_owner_ended", "double free", "free", &Detection::orphan_double_free},
    {"owner_freed_it_and_ended", "double free", "free", &Detection::orphan_double_free},
    {"delete_after_free", "double free", kDelete, &Detection::double_free},
    {"realloc_after_free", "double free", "realloc", &Detection::double_free},
    {"sized_free_after_free", "double free", kDelete, &Detection::double_free},
    {"interior_small", "interior pointer", "free", &Detection::interior_pointer},
    {"interior_medium", "interior pointer", "free", &Detection::interior_pointer},
    {"interior_wide", "interior pointer", "free", &Detection::interior_pointer},
    {"interior_large", "interior pointer", "free", &Detection::interior_pointer},
    {"misaligned_small", "misaligned pointer", "free", &Detection::misaligned_pointer},
    {"misaligned_medium", "misaligned pointer", "free", &Detection::misaligned_pointer},
    {"misaligned_large", "misaligned pointer", "free", &Detection::misaligned_pointer},
    {"realloc_inside", "interior pointer", "realloc", &Detection::interior_pointer},
    {"interior_from_another_thread", "interior pointer", "free", &Detection::interior_pointer},
    {"tail_slack", "tail slack", "free", &Detection::tail_slack},
    {"metadata_pointer", "metadata pointer", "free", &Detection::metadata_pointer},
    {"never_handed_out", "double free", "free", &Detection::double_free},
    {"sized_free_too_large", "wrong size", kDelete, &Detection::wrong_size},
    {"sized_delete_too_large", "wrong size", kDelete, &Detection::wrong_size},
    {"sized_free_of_large_block", "wrong size", kDelete, &Detection::wrong_size},
};

Outcome misuse(const char* name, const char* on_error) {
  return run({.arguments = {settings().helpers + "/misuse_program", name},
              .environment = {{"HAKOZUNA_ON_ERROR", on_error}}});
}

// The address the program announced, as it printed it.
std::string announced(const Outcome& outcome) {
  std::smatch match;
  return std::regex_search(outcome.output, match, std::regex("address (0x[0-9a-f]+)\n"))
             ? match[1].str()
             : "none";
}

class Misuse : public ::testing::TestWithParam<MisuseCase> {
 protected:
  void SetUp() override {
    REQUIRE_LINE();
    if (!(detection().*GetParam().promised))
      GTEST_SKIP() << line_name() << " does not promise to detect it";
  }

  // Exactly one line, and it says all there is to say.
  static void expect_message(const Outcome& outcome) {
    const std::regex line("hakozuna: " + line_name() + ": (" + GetParam().rule + ") of " +
                          announced(outcome) + " in (" + GetParam().operation + ")\\b[^\n]*\n");
    EXPECT_TRUE(std::regex_match(outcome.errors, line))
        << "announced " << announced(outcome) << ", reported: " << outcome.errors;
  }
};

#define SKIP_IF_NOT_APPLICABLE(outcome) \
  if ((outcome).exit_code == kNotApplicable) GTEST_SKIP() << "the line has no such address"

TEST_P(Misuse, AbortsByDefault) {
  const Outcome outcome = misuse(GetParam().name, "");
  SKIP_IF_NOT_APPLICABLE(outcome);
  EXPECT_EQ(outcome.signal, SIGABRT) << outcome.output << outcome.errors;
  expect_message(outcome);
}

TEST_P(Misuse, IsReportedAndTheHeapStaysWhole) {
  const Outcome outcome = misuse(GetParam().name, "report");
  SKIP_IF_NOT_APPLICABLE(outcome);
  EXPECT_EQ(outcome.exit_code, 0) << "signal " << outcome.signal;
  expect_message(outcome);
  EXPECT_NE(outcome.output.find("survived\nsound\nmisuses 1\n"), std::string::npos)
      << outcome.output;
}

TEST_P(Misuse, IsIgnoredAndCounted) {
  const Outcome outcome = misuse(GetParam().name, "ignore");
  SKIP_IF_NOT_APPLICABLE(outcome);
  EXPECT_EQ(outcome.exit_code, 0) << "signal " << outcome.signal;
  EXPECT_EQ(outcome.errors, "");
  EXPECT_NE(outcome.output.find("survived\nsound\nmisuses 1\n"), std::string::npos)
      << outcome.output;
}

INSTANTIATE_TEST_SUITE_P(Of, Misuse, ::testing::ValuesIn(kCases),
                         [](const auto& tested) { return std::string(tested.param.name); });

// What is not ours is handed to the allocator underneath. The C library does not know these either
// and ends the program, so what is to be seen is that the verdict is its own and that we claimed
// nothing.
class ForeignPointer : public ::testing::TestWithParam<const char*> {};

TEST_P(ForeignPointer, IsLeftToTheAllocatorUnderneath) {
  REQUIRE_LINE();
  const Outcome outcome = misuse(GetParam(), "");
  EXPECT_EQ(outcome.signal, SIGABRT) << outcome.output;
  EXPECT_EQ(outcome.errors.find("hakozuna:"), std::string::npos) << outcome.errors;
  EXPECT_NE(outcome.errors.find("invalid"), std::string::npos)
      << "glibc's own message: " << outcome.errors;
}

INSTANTIATE_TEST_SUITE_P(Of, ForeignPointer,
                         ::testing::Values("foreign_static_object", "foreign_stack",
                                           "foreign_mapping"),
                         [](const auto& tested) { return std::string(tested.param); });

}  // namespace
}  // namespace hakozuna::test
