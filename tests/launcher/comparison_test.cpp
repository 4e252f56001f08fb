#include "launcher/comparison.h"

#include <gtest/gtest.h>

namespace hakozuna::launcher {
namespace {

Sample sample_of(double wall_ms, double peak_rss_mib) {
  Sample sample;
  sample.wall_ms = wall_ms;
  sample.peak_rss_mib = peak_rss_mib;
  return sample;
}

Summary summary_of(double wall_ms, double peak_rss_mib) {
  return summarise({sample_of(wall_ms, peak_rss_mib)});
}

Contestant contestant(ContestantKind kind, const std::string& name, std::vector<Sample> samples) {
  return {kind, name, "", std::move(samples), {}};
}

constexpr int kAborted = 6;  // as waitpid gives it
constexpr int kExitedWith3 = 3 << 8;

TEST(Median, IsTheMiddleOrTheMeanOfTheTwoMiddleValues) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({7}), 7);
  EXPECT_EQ(median({9, 1, 5}), 5);
  EXPECT_EQ(median({8, 1, 2, 100}), 5);
}

TEST(Summary, IsNotMovedByOneOutlier) {
  const Summary summary = summarise({sample_of(10, 4), sample_of(900, 80), sample_of(11, 5)});
  EXPECT_EQ(summary.wall_ms, 11);
  EXPECT_EQ(summary.wall_ms_minimum, 10);
  EXPECT_EQ(summary.peak_rss_mib, 5);
}

TEST(Choose, NothingOfNothing) { EXPECT_EQ(choose({}), std::nullopt); }

TEST(Choose, TheFastestWhenTheOthersAreMoreThanThreePercentSlower) {
  EXPECT_EQ(choose({summary_of(103.1, 1), summary_of(100, 50)}), 1u);
}

TEST(Choose, TheSmallestOfThoseWithinThreePercentOfTheFastest) {
  EXPECT_EQ(choose({summary_of(100, 50), summary_of(102.9, 10), summary_of(102, 20)}), 1u);
  EXPECT_EQ(choose({summary_of(102.9, 50), summary_of(100, 10)}), 1u);
}

TEST(Choose, TheFasterOfTwoWithTheSameMemory) {
  EXPECT_EQ(choose({summary_of(102, 10), summary_of(101, 10)}), 1u);
}

TEST(Behaviour, ReportsExitCodesSignalsAndOutputThatTheSystemAllocatorDoesNotGive) {
  Sample usual = sample_of(1, 1), failed = usual, aborted = usual, wrong = usual;
  failed.wait_status = kExitedWith3;
  aborted.wait_status = kAborted;
  wrong.output = {5, 17};
  const Behaviour behaviour = compare_behaviour({
      contestant(ContestantKind::kSystem, "system", {usual, usual}),
      contestant(ContestantKind::kLine, "same", {usual, usual}),
      contestant(ContestantKind::kLine, "failing", {failed, failed}),
      contestant(ContestantKind::kLine, "aborting", {usual, aborted}),
      contestant(ContestantKind::kPeer, "wrong", {wrong, wrong}),
  });
  ASSERT_EQ(behaviour.differences.size(), 3u);
  EXPECT_EQ(behaviour.differences[0].allocator, "failing");
  EXPECT_EQ(behaviour.differences[0].what, "exit code 3 (system exit code 0)");
  EXPECT_EQ(behaviour.differences[1].allocator, "aborting");
  EXPECT_NE(behaviour.differences[1].what.find("killed by signal 6"), std::string::npos);
  EXPECT_EQ(behaviour.differences[2].allocator, "wrong");
  EXPECT_EQ(behaviour.differences[2].what, "standard output differs (5 bytes, system 0 bytes)");
  EXPECT_TRUE(behaviour.incomparable.empty());
}

TEST(Behaviour, ConcludesNothingFromOutputThatVariesUnderTheSystemAllocator) {
  Sample one = sample_of(1, 1), other = one, third = one;
  other.output = {5, 17};
  third.output = {6, 18};
  Contestant system = contestant(ContestantKind::kSystem, "system", {one});
  system.rehearsal = other;
  const Behaviour behaviour =
      compare_behaviour({system, contestant(ContestantKind::kLine, "line", {third})});
  EXPECT_TRUE(behaviour.differences.empty());
  EXPECT_EQ(behaviour.incomparable, std::vector<std::string>{"standard output"});
}

TEST(Behaviour, ReportsOutputThatVariesUnderALineOnly) {
  Sample one = sample_of(1, 1), other = one;
  other.errors = {5, 17};
  const Behaviour behaviour =
      compare_behaviour({contestant(ContestantKind::kSystem, "system", {one, one}),
                         contestant(ContestantKind::kLine, "line", {one, other})});
  ASSERT_EQ(behaviour.differences.size(), 1u);
  EXPECT_EQ(behaviour.differences[0].what, "standard error varies from run to run");
}

TEST(ChooseLine, PassesOverPeersAndOverLinesThatChangeWhatTheProgramDoes) {
  Sample failed = sample_of(1, 1);
  failed.wait_status = kAborted;
  const std::vector<Contestant> contestants = {
      contestant(ContestantKind::kSystem, "system", {sample_of(100, 10)}),
      contestant(ContestantKind::kLine, "failing", {failed}),
      contestant(ContestantKind::kLine, "good", {sample_of(90, 5)}),
      contestant(ContestantKind::kPeer, "peer", {sample_of(50, 2)}),
  };
  const Choice choice = choose_line(contestants, compare_behaviour(contestants));
  EXPECT_EQ(choice.line, "good");
  EXPECT_TRUE(choice.better_than_system);
  EXPECT_DOUBLE_EQ(choice.time_ratio, 0.9);
  EXPECT_DOUBLE_EQ(choice.peak_ratio, 0.5);
}

TEST(ChooseLine, SaysWhenTheSystemAllocatorIsTheBetterChoice) {
  const std::vector<Contestant> contestants = {
      contestant(ContestantKind::kSystem, "system", {sample_of(100, 10)}),
      contestant(ContestantKind::kLine, "line", {sample_of(101, 11)}),
  };
  const Choice choice = choose_line(contestants, compare_behaviour(contestants));
  EXPECT_EQ(choice.line, "line");
  EXPECT_FALSE(choice.better_than_system);
}

TEST(ChooseLine, RecommendsNoneWhenAllChangeWhatTheProgramDoes) {
  Sample failed = sample_of(1, 1);
  failed.wait_status = kAborted;
  const std::vector<Contestant> contestants = {
      contestant(ContestantKind::kSystem, "system", {sample_of(100, 10)}),
      contestant(ContestantKind::kLine, "failing", {failed}),
  };
  EXPECT_EQ(choose_line(contestants, compare_behaviour(contestants)).line, std::nullopt);
}

}  // namespace
}  // namespace hakozuna::launcher
