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
  std::string name = options.two_spans ? "two spans" : "one span";
  if (options.words) name += options.share_word ? " of words, one used" : " of words";
  if (options.keep_live) name += ", kept alive";
  if (options.owner_exits) name += ", owner exits";
  if (options.adopter) name += options.adopter_has_owners_record ? ", adopter with the owner's record" : ", adopter";
  if (options.freers_have_heaps) name += ", freers with heaps";
  if (options.taker) name += ", taker";
  if (options.purger) name += ", purger";
  if (options.remake) name += options.remake_with_words ? ", made again with words" : ", made again";
  return name;
}

// All combinations that differ in what can happen.
std::vector<ProtocolOptions> all_options() {
  std::vector<ProtocolOptions> all;
  for (int bits = 0; bits < 1 << 12; ++bits) {
    const auto has = [bits](int index) { return (bits >> index & 1) != 0; };
    const ProtocolOptions o = {has(0), has(1), has(2), has(3), has(4),  has(5),
                               has(6), has(7), has(8), has(9), has(10), has(11), Mutation::kNone};
    if (o.share_word && !o.words) continue;
    if (o.adopter && !o.owner_exits) continue;  // nothing to adopt
    if (o.adopter_has_owners_record && !o.adopter) continue;
    if (o.freers_have_heaps && !o.owner_exits) continue;  // they never see an orphan
    if (o.taker && o.words) continue;                     // of spans of one word only
    if (o.remake && (o.keep_live || o.two_spans || o.words)) continue;
    if (o.remake_with_words && !(o.remake && o.taker)) continue;
    // The larger models would take minutes, and find what pairs and triples of these find.
    const int extras = o.two_spans + o.words + o.adopter + o.freers_have_heaps + o.taker + o.purger + o.remake;
    if (extras > (test::kSanitizer ? 2 : 3)) continue;
    all.push_back(o);
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
  const test::Exploration right = explore(options);
  ASSERT_EQ(right.violation, "") << "the right version" << trace_of(right);
  options.mutation = GetParam().mutation;
  const test::Exploration exploration = explore(options);
  EXPECT_EQ(exploration.violation, GetParam().violation) << trace_of(exploration);
}

constexpr ProtocolOptions kSleeping = {.two_spans = true, .keep_live = true};
constexpr ProtocolOptions kWords = {.words = true, .keep_live = true};
constexpr ProtocolOptions kExiting = {.two_spans = true, .keep_live = true, .owner_exits = true};
constexpr ProtocolOptions kAdopting = {.keep_live = true, .owner_exits = true, .adopter = true};
constexpr ProtocolOptions kRecordUsedAgain = {
    .two_spans = true, .keep_live = true, .owner_exits = true, .adopter = true, .adopter_has_owners_record = true};
constexpr ProtocolOptions kMadeAgain = {.taker = true, .remake = true};
constexpr ProtocolOptions kMadeAgainWithWords = {.taker = true, .remake = true, .remake_with_words = true};
constexpr ProtocolOptions kPurging = {.two_spans = true, .keep_live = true, .purger = true};
constexpr ProtocolOptions kPurgingWords = {.words = true, .keep_live = true, .purger = true};
constexpr ProtocolOptions kPurgingSharedWord = {.words = true, .share_word = true, .purger = true};
constexpr ProtocolOptions kPurgingAndTaking = {.keep_live = true, .taker = true, .purger = true};

const Planted kPlanted[] = {
    {Mutation::kReadNextAfterCollecting, "ReadNextAfterCollecting", kSleeping, "the token of a span is lost"},
    {Mutation::kPushOnEveryFree, "PushOnEveryFree", kSleeping, "two hold the token of a span"},
    {Mutation::kTokenBeforeCollecting, "TokenBeforeCollecting", kPurgingWords, "a slot is collected while its pages are returned"},
    {Mutation::kCollectWordsBeforeSummary, "CollectWordsBeforeSummary", kWords,
     "a slot is collected before its word is announced"},
    {Mutation::kSetSummaryBeforeWord, "SetSummaryBeforeWord", kWords, "a freed slot is never collected"},
    {Mutation::kGiveUpAfterAdoption, "GiveUpAfterAdoption", kAdopting, "the token of a span is lost"},
    {Mutation::kNoCheckUnderLock, "NoCheckUnderLock", kAdopting, "a span is collected as an orphan that is none"},
    {Mutation::kNoSecondLook, "NoSecondLook", kMadeAgain, "a freed slot is never collected"},
    {Mutation::kNoOwnerCheckInQueue, "NoOwnerCheckInQueue", kRecordUsedAgain, "a span is collected by who does not own it"},
    {Mutation::kNoLateDelivery, "NoLateDelivery", kExiting, "a freed slot is never collected"},
    {Mutation::kAdoptIntoEndedHeap, "AdoptIntoEndedHeap", kExiting, "a living span belongs to an ended heap"},
    {Mutation::kEndWithoutCarried, "EndWithoutCarried", kExiting, "the token of a span is lost"},
    {Mutation::kReleaseWithoutToken, "ReleaseWithoutToken", kMadeAgain, "a released span is pushed"},
    {Mutation::kTakeWithoutClassCheck, "TakeWithoutClassCheck", kMadeAgainWithWords, "a pending slot is freed"},
    {Mutation::kTakeWithoutPuttingBack, "TakeWithoutPuttingBack", kMadeAgainWithWords, "a freed slot is never collected"},
    {Mutation::kPurgeWithoutDelivery, "PurgeWithoutDelivery", kPurging, "the token of a span is lost"},
    {Mutation::kPurgeWithoutTaking, "PurgeWithoutTaking", kPurging, "two hold the token of a span"},
    {Mutation::kPurgeHoldingWords, "PurgeHoldingWords", kPurgingSharedWord,
     "a slot is collected before its word is announced"},
    {Mutation::kPurgeWithoutHolding, "PurgeWithoutHolding", kPurgingAndTaking, "the pages of a block are returned"},
};

INSTANTIATE_TEST_SUITE_P(Planted, RemoteFreeMutation, testing::ValuesIn(kPlanted),
                         [](const auto& planted) { return std::string(planted.param.name); });

}  // namespace
}  // namespace hakozuna::hz8
