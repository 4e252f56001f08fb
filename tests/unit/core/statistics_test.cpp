#include "common/core/statistics.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "common/core/statistics_fields.h"

namespace hakozuna::core {
namespace {

// Every field another value, and the identity holds.
hakozuna_statistics example() {
  hakozuna_statistics s = {};
  s.struct_size = sizeof s;
  uint64_t value = 1000;
  for (const StatisticsField& field : kStatisticsFields) s.*field.value = ++value;
  s.live = uint64_t{3} << 20;
  s.cached = 65536;
  s.free_in_spans = 1536;
  s.returned = 0;
  s.untouched = 7;
  s.metadata = 4096;
  s.mapped = s.live + s.cached + s.free_in_spans + s.returned + s.untouched + s.metadata;
  s.large_live = 1 << 20;
  s.large_cached = 65536;
  return s;
}

bool three_classes(size_t index, hakozuna_class_statistics& one) noexcept {
  static constexpr hakozuna_class_statistics kClasses[] = {
      {16, 2, 100, 28}, {32, 0, 0, 0}, {48, 1, 0, 5}};
  if (index >= 3) return false;
  one = kClasses[index];
  return true;
}

bool no_classes(size_t, hakozuna_class_statistics&) noexcept { return false; }

using Form = decltype(&write_statistics_json);

std::string whole(Form form, const hakozuna_statistics& s,
                  ClassStatistics classes = &three_classes) {
  std::string text(form(nullptr, 0, "hz8", s, classes) + 1, '\0');
  EXPECT_EQ(form(text.data(), text.size(), "hz8", s, classes), text.size() - 1);
  text.pop_back();
  EXPECT_EQ(text.find('\0'), text.npos);
  return text;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

TEST(Statistics, IdentityHoldsOrNot) {
  const hakozuna_statistics good = example();
  EXPECT_TRUE(identity_holds(good));
  EXPECT_TRUE(identity_holds(hakozuna_statistics{}));
  for (auto part :
       {&hakozuna_statistics::mapped, &hakozuna_statistics::live, &hakozuna_statistics::cached,
        &hakozuna_statistics::free_in_spans, &hakozuna_statistics::returned,
        &hakozuna_statistics::untouched, &hakozuna_statistics::metadata}) {
    hakozuna_statistics bad = good;
    bad.*part += 1;
    EXPECT_FALSE(identity_holds(bad));
  }
  hakozuna_statistics others = good;
  others.reserved += 1;
  others.large_live += 1;
  EXPECT_TRUE(identity_holds(others)) << "no part of it";
}

TEST(Statistics, FieldsAreUnderTheirOwnNamesInTheOrderOfTheStruct) {
  hakozuna_statistics s = {};
  uint64_t words[sizeof s / sizeof(uint64_t)];
  static_assert(sizeof words == sizeof s);
  for (size_t i = 0; i < std::size(words); ++i) words[i] = 100 + i;
  std::memcpy(&s, words, sizeof s);
  uint64_t expected = 101;
  for (const StatisticsField& field : kStatisticsFields) {
    EXPECT_EQ(s.*field.value, expected++) << field.name;
  }
}

TEST(StatisticsJson, HasEveryFieldAndTheClasses) {
  const hakozuna_statistics s = example();
  const std::string json = whole(&write_statistics_json, s);
  EXPECT_EQ(json.rfind("{\"version\": \"" + std::to_string(HAKOZUNA_VERSION_MAJOR) + ".", 0), 0u)
      << json;
  EXPECT_TRUE(contains(json, "\"line\": \"hz8\", \"identity_holds\": true, \"struct_size\": " +
                                 std::to_string(sizeof s) + ", "));
  for (const StatisticsField& field : kStatisticsFields) {
    EXPECT_TRUE(
        contains(json, "\"" + std::string(field.name) + "\": " + std::to_string(s.*field.value)))
        << field.name;
  }
  EXPECT_TRUE(contains(
      json,
      "\"classes\": [{\"size\": 16, \"spans\": 2, \"live_slots\": 100, \"free_slots\": 28}, "
      "{\"size\": 32, \"spans\": 0, \"live_slots\": 0, \"free_slots\": 0}, "
      "{\"size\": 48, \"spans\": 1, \"live_slots\": 0, \"free_slots\": 5}]}\n"))
      << json;
  EXPECT_EQ(json.find('\n'), json.size() - 1) << "one line";
}

TEST(StatisticsJson, SaysThatTheIdentityIsBroken) {
  hakozuna_statistics s = example();
  ++s.mapped;
  EXPECT_TRUE(contains(whole(&write_statistics_json, s), "\"identity_holds\": false"));
}

TEST(StatisticsJson, WithoutClassesAndWithHugeNumbers) {
  hakozuna_statistics s = {};
  for (const StatisticsField& field : kStatisticsFields) s.*field.value = UINT64_MAX;
  const std::string json = whole(&write_statistics_json, s, &no_classes);
  EXPECT_TRUE(contains(json, "\"live\": 18446744073709551615"));
  EXPECT_TRUE(contains(json, "\"classes\": []}"));
}

TEST(StatisticsTable, HasReadableUnitsTheIdentityAndTheClassesInUse) {
  const std::string table = whole(&write_statistics_table, example());
  EXPECT_EQ(table.rfind("hakozuna ", 0), 0u);
  EXPECT_TRUE(contains(table, ", line hz8\n"));
  EXPECT_TRUE(contains(table, "    live                         3 MiB\n")) << table;
  EXPECT_TRUE(contains(table, "    free in spans              1.5 KiB\n")) << table;
  EXPECT_TRUE(contains(table, "returned + untouched + metadata: holds\n"));
  EXPECT_TRUE(
      contains(table, "          16         2           100            28       1.6 KiB    78 %\n"))
      << table;
  EXPECT_TRUE(
      contains(table, "          48         1             0             5           0 B     0 %\n"))
      << table;
  EXPECT_FALSE(contains(table, "\n          32 ")) << "not in use";
}

TEST(StatisticsTable, NamesEveryCount) {
  const hakozuna_statistics s = example();
  const std::string table = whole(&write_statistics_table, s);
  for (uint64_t value : {s.spans, s.orphan_spans, s.threads, s.threads_total, s.refills,
                         s.remote_frees, s.adopted_spans, s.purge_calls, s.foreign_frees, s.misuses,
                         s.minor_faults, s.major_faults}) {
    EXPECT_TRUE(contains(table, " " + std::to_string(value) + "\n")) << value;
  }
}

TEST(StatisticsTable, ShowsABrokenIdentityInFigures) {
  hakozuna_statistics s = {};
  s.mapped = 100;
  s.live = 90;
  EXPECT_TRUE(contains(whole(&write_statistics_table, s), ": BROKEN, 100 is not 90\n"));
}

TEST(StatisticsXml, HasTheShapeOfGlibc) {
  const hakozuna_statistics s = example();
  const std::string xml = whole(&write_malloc_info_xml, s);
  EXPECT_EQ(xml.rfind("<malloc version=\"1\"", 0), 0u);
  EXPECT_TRUE(contains(xml, "<heap nr=\"0\">\n<sizes>\n"));
  EXPECT_TRUE(contains(xml,
                       "  <size from=\"1\" to=\"16\" total=\"448\" count=\"28\"/>\n"
                       "  <size from=\"33\" to=\"48\" total=\"240\" count=\"5\"/>\n</sizes>\n"))
      << xml;
  EXPECT_TRUE(contains(xml, "<total type=\"rest\" count=\"33\" size=\"1536\"/>"));
  EXPECT_TRUE(
      contains(xml, "<system type=\"current\" size=\"" + std::to_string(s.mapped) + "\"/>"));
  EXPECT_TRUE(contains(xml, "<total type=\"mmap\" size=\"1048576\"/>"));
  EXPECT_EQ(xml.substr(xml.size() - 10), "</malloc>\n");
}

TEST(StatisticsForms, AreCutAndTerminatedAtEveryCapacity) {
  const hakozuna_statistics s = example();
  for (Form form : {&write_statistics_json, &write_statistics_table, &write_malloc_info_xml}) {
    const std::string text = whole(form, s);
    for (size_t capacity = 1; capacity <= text.size(); capacity += 1 + capacity / 16) {
      std::string buffer(capacity + 4, '#');
      ASSERT_EQ(form(buffer.data(), capacity, "hz8", s, &three_classes), text.size());
      ASSERT_EQ(buffer.substr(0, capacity - 1), text.substr(0, capacity - 1));
      ASSERT_EQ(buffer[capacity - 1], '\0');
      ASSERT_EQ(buffer.substr(capacity), "####") << "written past the capacity";
    }
  }
}

}  // namespace
}  // namespace hakozuna::core
