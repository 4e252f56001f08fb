#include "common/core/options.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <thread>
#include <vector>

#include "common/core/option_messages.h"
#include "common/core/option_values.h"
#include "unit/core/child_process.h"

namespace hakozuna::core {
namespace {

using test::Ending;

// The strings of an environment and the pointers to them.
class Entries {
 public:
  explicit Entries(std::vector<std::string> entries) : entries_(std::move(entries)) {
    for (std::string& entry : entries_) pointers_.push_back(entry.data());
    pointers_.push_back(nullptr);
  }
  char** pointers() { return pointers_.data(); }

 private:
  std::vector<std::string> entries_;
  std::vector<char*> pointers_;
};

void read(OptionValues& values, std::vector<std::string> settings) {
  Entries entries(std::move(settings));
  Environment environment(entries.pointers());
  values.read(environment);
}

std::string get(const OptionValues& values, const char* name) {
  char buffer[64];
  EXPECT_EQ(values.get(name, buffer, sizeof buffer), 0) << name;
  return buffer;
}

std::string complaints(std::vector<std::string> settings, bool expect_help = false) {
  Entries entries(std::move(settings));
  return test::run_in_child([&] {
           Environment environment(entries.pointers());
           if (complain_about(environment, STDERR_FILENO) != expect_help) _exit(1);
         })
      .errors;
}

TEST(OptionTable, EveryDefaultIsAValueAndReadsBack) {
  for (const Option& option : option_table) {
    FixedText<64> text;
    write_value(text, option, option.default_value);
    uint64_t value = option.default_value + 1;
    EXPECT_TRUE(parse_value(option, text.stored(), value)) << option.name;
    EXPECT_EQ(value, option.default_value) << option.name;
    EXPECT_EQ(find_option(option.name), &option) << "two of one name";
    EXPECT_FALSE(is_other_variable(option.name));
  }
}

TEST(OptionTable, IsInTheOrderOfTheIds) {
  const auto name = [](OptionId id) { return option_table[static_cast<size_t>(id)].name; };
  EXPECT_STREQ(name(OptionId::kOnError), "ON_ERROR");
  EXPECT_STREQ(name(OptionId::kStats), "STATS");
  EXPECT_STREQ(name(OptionId::kPurgeDelayMs), "PURGE_DELAY_MS");
  EXPECT_STREQ(name(OptionId::kRetain), "RETAIN");
  EXPECT_STREQ(name(OptionId::kBackground), "BACKGROUND");
  EXPECT_STREQ(name(OptionId::kHugePages), "HUGE_PAGES");
  EXPECT_STREQ(name(OptionId::kLimit), "LIMIT");
  EXPECT_STREQ(name(OptionId::kLargeCache), "LARGE_CACHE");
}

TEST(OptionTable, RejectsAValueThatMayHaveBeenCut) {
  uint64_t value = 1;
  EXPECT_TRUE(parse_value(*find_option("RETAIN"), std::string(64, '0'), value));
  EXPECT_FALSE(parse_value(*find_option("RETAIN"), std::string(65, '0'), value));
}

TEST(OptionValues, DefaultsAreThere) {
  constinit static OptionValues values;
  EXPECT_EQ(get(values, "ON_ERROR"), "abort");
  EXPECT_EQ(get(values, "STATS"), "off");
  EXPECT_EQ(get(values, "PURGE_DELAY_MS"), "500");
  EXPECT_EQ(get(values, "RETAIN"), "512KiB");
  EXPECT_EQ(get(values, "BACKGROUND"), "0");
  EXPECT_EQ(get(values, "HUGE_PAGES"), "never");
  EXPECT_EQ(get(values, "LIMIT"), "0");
  EXPECT_EQ(get(values, "LARGE_CACHE"), "64MiB");
}

TEST(OptionValues, GoodSettingsAreTaken) {
  OptionValues values;
  read(values, {"A=b", "HAKOZUNA_ON_ERROR=Report", "HAKOZUNA_PURGE_DELAY_MS=60000",
                "HAKOZUNA_RETAIN=1TiB", "HAKOZUNA_BACKGROUND=yes", "HAKOZUNA_LIMIT=1536M"});
  EXPECT_EQ(get(values, "ON_ERROR"), "report");
  EXPECT_EQ(get(values, "PURGE_DELAY_MS"), "60000");
  EXPECT_EQ(get(values, "RETAIN"), "1TiB");
  EXPECT_EQ(get(values, "BACKGROUND"), "1");
  EXPECT_EQ(get(values, "LIMIT"), "1536MiB");
  EXPECT_EQ(values.get(OptionId::kLimit), uint64_t{1536} << 20);
}

TEST(OptionValues, BadSettingsLeaveTheDefault) {
  for (const char* bad : {"banana", "-1", "60001", "1ms", "18446744073709551616", " 7", ""}) {
    OptionValues values;
    read(values, {std::string("HAKOZUNA_PURGE_DELAY_MS=") + bad, "HAKOZUNA_STATS=json"});
    EXPECT_EQ(get(values, "PURGE_DELAY_MS"), "500") << bad;
    EXPECT_EQ(get(values, "STATS"), "json") << "the others are still read";
  }
}

TEST(OptionValues, TheFirstOfTwoCounts) {
  OptionValues values;
  read(values, {"HAKOZUNA_PURGE_DELAY_MS=1", "HAKOZUNA_PURGE_DELAY_MS=2"});
  EXPECT_EQ(get(values, "PURGE_DELAY_MS"), "1");
}

TEST(OptionValues, ASecondReadDoesNotUndoWhatTheProgramSet) {
  OptionValues values;
  read(values, {"HAKOZUNA_PURGE_DELAY_MS=1"});
  EXPECT_EQ(values.set("PURGE_DELAY_MS", "7"), 0);
  read(values, {"HAKOZUNA_PURGE_DELAY_MS=1"});
  EXPECT_EQ(get(values, "PURGE_DELAY_MS"), "7");
}

TEST(OptionValues, SetSaysWhatIsWrong) {
  OptionValues values;
  EXPECT_EQ(values.set("HAKOZUNA_ON_ERROR", "ignore"), 0);
  EXPECT_EQ(get(values, "HAKOZUNA_ON_ERROR"), "ignore");
  for (const char* name : {"", "HAKOZUNA_", "NONE", "on_error", "ON_ERROR ", "HELP", "LIBRARY_DIR",
                           "HAKOZUNA_HAKOZUNA_ON_ERROR"}) {
    EXPECT_EQ(values.set(name, "0"), ENOENT) << name;
  }
  EXPECT_EQ(values.set(nullptr, "0"), ENOENT);
  EXPECT_EQ(values.set("LIMIT", nullptr), EINVAL);
  EXPECT_EQ(values.set("LIMIT", ""), EINVAL);
  EXPECT_EQ(values.set("LIMIT", "257TiB"), EINVAL);
  EXPECT_EQ(values.set("STATS", "text"), EPERM);
  EXPECT_EQ(values.set("BACKGROUND", "1"), EPERM);
  EXPECT_EQ(values.set("HUGE_PAGES", "always"), EPERM);
  EXPECT_EQ(get(values, "LIMIT"), "0");
  EXPECT_EQ(get(values, "STATS"), "off");
}

TEST(OptionValues, GetNeedsANameAndRoom) {
  OptionValues values;
  char buffer[8] = "#######";
  EXPECT_EQ(values.get("NONE", buffer, sizeof buffer), ENOENT);
  EXPECT_EQ(values.get(nullptr, buffer, sizeof buffer), ENOENT);
  EXPECT_EQ(values.get("ON_ERROR", nullptr, 0), ERANGE);
  EXPECT_EQ(values.get("ON_ERROR", buffer, 5), ERANGE);
  EXPECT_EQ(buffer[5], '#') << "written past the capacity";
  EXPECT_EQ(values.get("ON_ERROR", buffer, 6), 0);
  EXPECT_STREQ(buffer, "abort");
}

TEST(OptionComplaints, BadValuesNameWhatWasGivenAndWhatMayBe) {
  EXPECT_EQ(complaints({"HAKOZUNA_PURGE_DELAY_MS=banana"}),
            "hakozuna: HAKOZUNA_PURGE_DELAY_MS=\"banana\": must be 0..60000; using 500\n");
  EXPECT_EQ(complaints({"HAKOZUNA_RETAIN=2TiB"}),
            "hakozuna: HAKOZUNA_RETAIN=\"2TiB\": must be 0..1TiB; using 512KiB\n");
  EXPECT_EQ(complaints({"HAKOZUNA_BACKGROUND=2"}),
            "hakozuna: HAKOZUNA_BACKGROUND=\"2\": must be 0 or 1; using 0\n");
  EXPECT_EQ(
      complaints({"HAKOZUNA_ON_ERROR=explode", "HAKOZUNA_STATS=text"}),
      "hakozuna: HAKOZUNA_ON_ERROR=\"explode\": must be abort, report or ignore; using abort\n");
}

TEST(OptionComplaints, HostileValuesStayOneShortLine) {
  const std::string text = complaints({"HAKOZUNA_LIMIT=\n\x1b[2J\xff" + std::string(100'000, '9')});
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  EXPECT_EQ(text.back(), '\n');
  EXPECT_EQ(text.find('\x1b'), text.npos);
  EXPECT_LT(text.size(), 200u);
  const std::string name = complaints({"HAKOZUNA_" + std::string(100'000, '\t') + "=1"});
  EXPECT_EQ(std::count(name.begin(), name.end(), '\n'), 1);
  EXPECT_LT(name.size(), 400u);
}

TEST(OptionComplaints, UnknownNamesGetTheNearest) {
  EXPECT_EQ(
      complaints({"HAKOZUNA_PURGE_DELAY=1"}),
      "hakozuna: unknown option HAKOZUNA_PURGE_DELAY; did you mean HAKOZUNA_PURGE_DELAY_MS?\n");
  EXPECT_EQ(complaints({"HAKOZUNA_STAT=1"}),
            "hakozuna: unknown option HAKOZUNA_STAT; did you mean HAKOZUNA_STATS?\n");
  EXPECT_EQ(complaints({"HAKOZUNA_COLOUR=1"}),
            "hakozuna: unknown option HAKOZUNA_COLOUR; HAKOZUNA_HELP=1 lists those there are\n");
  EXPECT_EQ(nearest_name("ONERROR"), "ON_ERROR");
  EXPECT_EQ(nearest_name("LIMTI"), "LIMIT");
  EXPECT_EQ(nearest_name("LIMITS"), "LIMIT");
  EXPECT_EQ(nearest_name("HLEP"), "HELP");
  EXPECT_EQ(nearest_name("HELPS"), "HELP");
  EXPECT_EQ(nearest_name(""), "");
  EXPECT_EQ(nearest_name("X"), "");
  EXPECT_EQ(nearest_name(std::string(33, 'A')), "");
  EXPECT_EQ(nearest_name(std::string(32, 'A')), "");
}

TEST(OptionComplaints, NothingIsSaidOfWhatIsInOrder) {
  EXPECT_EQ(complaints({"PATH=/bin", "HAKOZUNA_LIBRARY_DIR=/x", "HAKOZUNA_LIMIT=1G",
                        "HAKOZUNA_HELP=0", "HAKOZUNA_STATS="}),
            "");
}

TEST(OptionComplaints, HelpIsAskedFor) {
  EXPECT_EQ(test::run_in_child([] {
              Entries entries({"HAKOZUNA_HELP=1"});
              Environment environment(entries.pointers());
              _exit(complain_about(environment, STDERR_FILENO) ? 7 : 8);
            }).exit_code,
            7);
}

// The program's own options, each time in a process that has not read them yet.
template <class Function>
Ending with_environment(std::vector<std::string> settings, Function function) {
  return test::run_in_child([&] {
    Entries entries(std::move(settings));
    environ = entries.pointers();
    errno = ENOTTY;
    initialise_options();
    if (errno != ENOTTY) _exit(100);
    function();
  });
}

TEST(Options, AccessorsFollowTheEnvironment) {
  const Ending ending = with_environment(
      {"HAKOZUNA_ON_ERROR=ignore", "HAKOZUNA_STATS=json", "HAKOZUNA_PURGE_DELAY_MS=1",
       "HAKOZUNA_RETAIN=2", "HAKOZUNA_BACKGROUND=1", "HAKOZUNA_HUGE_PAGES=auto", "HAKOZUNA_LIMIT=3",
       "HAKOZUNA_LARGE_CACHE=4"},
      [] {
        const bool all = on_error() == OnError::kIgnore && stats() == StatsMode::kJson &&
                         purge_delay_ms() == 1 && retain_bytes() == 2 && background() &&
                         huge_pages() == HugePages::kAuto && limit_bytes() == 3 &&
                         large_cache_bytes() == 4;
        _exit(all ? 0 : 1);
      });
  EXPECT_EQ(ending.exit_code, 0);
  EXPECT_EQ(ending.errors, "");
}

TEST(Options, AccessorsGiveDefaultsBeforeAnythingIsRead) {
  const Ending ending = test::run_in_child([] {
    const bool all = on_error() == OnError::kAbort && stats() == StatsMode::kOff &&
                     purge_delay_ms() == 500 && retain_bytes() == 512 << 10 && !background() &&
                     huge_pages() == HugePages::kNever && limit_bytes() == 0 &&
                     large_cache_bytes() == 64 << 20;
    _exit(all ? 0 : 1);
  });
  EXPECT_EQ(ending.exit_code, 0);
}

TEST(Options, AreReadOnceAndComplainedAboutOnce) {
  const Ending ending = with_environment({"HAKOZUNA_LIMIT=x"}, [] {
    Entries later({"HAKOZUNA_LIMIT=5", "HAKOZUNA_STATS=y"});
    environ = later.pointers();
    initialise_options();
    if (limit_bytes() != 0) _exit(1);
  });
  EXPECT_EQ(ending.exit_code, 0);
  EXPECT_EQ(ending.errors, "hakozuna: HAKOZUNA_LIMIT=\"x\": must be 0..256TiB; using 0\n");
}

TEST(Options, ManyThreadsAtOnceAllSeeTheValues) {
  const Ending ending = test::run_in_child([] {
    Entries entries({"HAKOZUNA_PURGE_DELAY_MS=77", "HAKOZUNA_LIMIT=x"});
    environ = entries.pointers();
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 16; ++i) {
      threads.emplace_back([&wrong] {
        initialise_options();
        if (purge_delay_ms() != 77) ++wrong;
      });
    }
    for (std::thread& thread : threads) thread.join();
    _exit(wrong);
  });
  EXPECT_EQ(ending.exit_code, 0);
  EXPECT_EQ(std::count(ending.errors.begin(), ending.errors.end(), '\n'), 1) << ending.errors;
}

TEST(Options, AreReadAlsoBeforeLibcHasSetEnviron) {
  const Ending ending = test::run_in_child([] {
    environ = nullptr;  // what this process was started with holds nothing of ours
    initialise_options();
    if (purge_delay_ms() != 500) _exit(1);
    if (set_option("PURGE_DELAY_MS", "9") != 0 || purge_delay_ms() != 9) _exit(2);
    char buffer[8];
    if (get_option("PURGE_DELAY_MS", buffer, sizeof buffer) != 0 || buffer[0] != '9') _exit(3);
  });
  EXPECT_EQ(ending.exit_code, 0);
}

TEST(Options, HelpListsEveryOption) {
  const Ending ending = with_environment({"HAKOZUNA_HELP=1"}, [] {});
  EXPECT_EQ(ending.exit_code, 0);
  for (const Option& option : option_table) {
    EXPECT_NE(ending.errors.find("HAKOZUNA_" + std::string(option.name) + "="), std::string::npos);
  }
  size_t longest = 0, line_start = 0;
  for (size_t i = 0; i < ending.errors.size(); ++i) {
    if (ending.errors[i] != '\n') continue;
    longest = std::max(longest, i - line_start);
    line_start = i + 1;
  }
  EXPECT_LE(longest, 80u) << "fits a terminal";
}

}  // namespace
}  // namespace hakozuna::core
