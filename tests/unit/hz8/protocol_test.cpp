// Every interleaving of the remote-free protocol, and of versions of it that are wrong in one place.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/hz8/protocol_model.h"
#include "unit/sanitizers.h"

namespace hakozuna::hz8 {
namespace {

test::Exploration explore(const ProtocolOptions& options) {
  const ProtocolModel model(options);
  return test::Explorer<ProtocolModel>(model).run();
}

std::string trace_of(const test::Exploration& exploration) {
  std::string text;
  for (const std::string& step : exploration.trace) text += "\n  " + step;
  return text;
}

std::string name_of(const ProtocolOptions& options) {
  std::string name = !options.two_words ? "one word" : options.share_word ? "two words, one used" : "two words";
  if (options.keep_live) name += ", kept alive";
  if (!options.has_free_slot) name += ", full";
  if (options.owner_exits) name += ", owner exits";
  if (options.adopter) name += options.adopter_has_owners_record ? ", adopter with the owner's record" : ", adopter";
  if (options.freers_have_heaps) name += ", freers with heaps";
  if (options.purger) name += ", purger";
  return name;
}

// All combinations that differ in what can happen.
std::vector<ProtocolOptions> all_options() {
  std::vector<ProtocolOptions> all;
  for (int bits = 0; bits < 512; ++bits) {
    const auto has = [bits](int index) { return (bits >> index & 1) != 0; };
    const ProtocolOptions options = {has(0), has(1), has(2), has(3), has(4), has(5), has(6), has(7), has(8), Mutation::kNone};
    if (options.share_word && !options.two_words) continue;
    if (options.adopter && !options.owner_exits) continue;  // nothing to adopt
    if (options.adopter_has_owners_record && !options.adopter) continue;
    if (options.freers_have_heaps && !options.owner_exits) continue;  // they never see an orphan
    // Sanitizers make it ten times slower, and have nothing to find in the larger models that they would not in the smaller.
    if (test::kSanitizer && options.adopter + options.purger + options.freers_have_heaps + options.two_words > 2) continue;
    all.push_back(options);
  }
  return all;
}

TEST(RemoteFreeProtocol, HoldsInEveryInterleaving) {
  int states = 0;
  for (const ProtocolOptions& options : all_options()) {
    const test::Exploration exploration = explore(options);
    states += static_cast<int>(exploration.states);
    ASSERT_EQ(exploration.violation, "") << name_of(options) << trace_of(exploration);
    ASSERT_GT(exploration.resting_states, 0u) << name_of(options);
  }
  RecordProperty("states", states);
}

struct Planted {
  Mutation mutation;
  const char* name;
  ProtocolOptions options;
  const char* violation;  // the first that is met
};

class RemoteFreeMutation : public testing::TestWithParam<Planted> {};

TEST_P(RemoteFreeMutation, IsNoticed) {
  ProtocolOptions options = GetParam().options;
  ASSERT_EQ(explore(options).violation, "") << "the right version holds";
  options.mutation = GetParam().mutation;
  const test::Exploration exploration = explore(options);
  EXPECT_FALSE(exploration.trace.empty());
  EXPECT_EQ(exploration.violation, GetParam().violation) << trace_of(exploration);
}

constexpr ProtocolOptions kSleeping = {.keep_live = true};
constexpr ProtocolOptions kExiting = {.keep_live = true, .owner_exits = true};
constexpr ProtocolOptions kAdopting = {.keep_live = true, .owner_exits = true, .adopter = true};

const Planted kPlanted[] = {
    {Mutation::kReadNextAfterCollecting, "ReadNextAfterCollecting", kSleeping, "the token of a span is lost"},
    {Mutation::kPushOnEveryFree, "PushOnEveryFree", kSleeping, "two hold the token of a span"},
    {Mutation::kCollectWordsBeforeSummary, "CollectWordsBeforeSummary", {.two_words = true, .keep_live = true}, "a freed slot is never collected"},
    {Mutation::kSetSummaryBeforeWord, "SetSummaryBeforeWord", {.two_words = true, .keep_live = true}, "a freed slot is never collected"},
    {Mutation::kGiveUpAfterAdoption, "GiveUpAfterAdoption", kAdopting, "the token of a span is lost"},
    {Mutation::kNoOwnerCheckUnderLock, "NoOwnerCheckUnderLock", kAdopting, "a span is collected as an orphan that is none"},
    {Mutation::kNoOwnerCheckInQueue, "NoOwnerCheckInQueue",
     {.keep_live = true, .owner_exits = true, .adopter = true, .adopter_has_owners_record = true}, "a span is collected by who does not own it"},
    {Mutation::kNoLateDelivery, "NoLateDelivery", kExiting, "a freed slot is never collected"},
    {Mutation::kEndWithoutCarried, "EndWithoutCarried", kExiting, "the token of a span is lost"},
    {Mutation::kPurgeWithoutDelivery, "PurgeWithoutDelivery", {.keep_live = true, .purger = true}, "the token of a span is lost"},
    {Mutation::kPurgeWithoutTaking, "PurgeWithoutTaking", {.keep_live = true, .purger = true}, "two hold the token of a span"},
};

INSTANTIATE_TEST_SUITE_P(Planted, RemoteFreeMutation, testing::ValuesIn(kPlanted),
                         [](const auto& planted) { return std::string(planted.param.name); });

}  // namespace
}  // namespace hakozuna::hz8
