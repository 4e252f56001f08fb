#include "common/core/environment.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace hakozuna::core {
namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

Settings all(Environment& environment) {
  Settings settings;
  Setting setting;
  while (environment.next(setting)) settings.emplace_back(setting.name, setting.value);
  EXPECT_FALSE(environment.next(setting)) << "the end stays the end";
  return settings;
}

// The same entries from both sources, which must agree.
Settings from_array(std::vector<std::string> entries) {
  std::vector<char*> pointers;
  for (std::string& entry : entries) pointers.push_back(entry.data());
  pointers.push_back(nullptr);
  Environment environment(pointers.data());
  return all(environment);
}

Settings from_file(const std::string& contents) {
  char path[] = "/tmp/hakozuna_environment_XXXXXX";
  const int file = mkstemp(path);
  EXPECT_GE(file, 0);
  EXPECT_EQ(write(file, contents.data(), contents.size()), static_cast<ssize_t>(contents.size()));
  close(file);
  Environment environment(path);
  Settings settings = all(environment);
  unlink(path);
  return settings;
}

Settings from_file(const std::vector<std::string>& entries) {
  std::string contents;
  for (const std::string& entry : entries) contents += entry + '\0';
  return from_file(contents);
}

TEST(Environment, FindsOnlyItsOwn) {
  const std::vector<std::string> entries = {
      "PATH=/bin", "HAKOZUNA_STATS=text", "hakozuna_STATS=json", "HAKOZUNA=1",
      "",          "XHAKOZUNA_STATS=no",  "HAKOZUNA_=odd",       "HAKOZUNA_NOTHING",
      "=",         "HAKOZUNA_X=",         "HAKOZUNA_Y=a=b"};
  const Settings expected = {{"STATS", "text"}, {"", "odd"}, {"X", ""}, {"Y", "a=b"}};
  EXPECT_EQ(from_array(entries), expected);
  EXPECT_EQ(from_file(entries), expected);
}

TEST(Environment, IsEmpty) {
  EXPECT_EQ(from_array({}), Settings{});
  EXPECT_EQ(from_file(std::string()), Settings{});
  Environment missing("/no/such/file");
  EXPECT_EQ(all(missing), Settings{});
}

TEST(Environment, FileOfAnyLengthInTheWay) {
  std::vector<std::string> entries;
  for (size_t length : {1, 200, 255, 256, 257, 511, 512, 513, 5000, 100'000}) {
    entries.push_back("OTHER=" + std::string(length, 'x'));
    entries.push_back("HAKOZUNA_N" + std::to_string(length) + "=" + std::to_string(length));
  }
  const Settings settings = from_file(entries);
  EXPECT_EQ(settings.size(), 10u);
  EXPECT_EQ(settings, from_array(entries));
}

TEST(Environment, FileWithoutTheLastTerminator) {
  const Settings expected = {{"STATS", "text"}};
  EXPECT_EQ(from_file(std::string("HAKOZUNA_STATS=text")), expected);
}

TEST(Environment, FileWithAValueTooLongCutsIt) {
  const Settings settings = from_file({"HAKOZUNA_A=" + std::string(10'000, '0'), "HAKOZUNA_B=2"});
  ASSERT_EQ(settings.size(), 2u);
  EXPECT_GT(settings[0].second.size(), 64u) << "long enough to be refused";
  EXPECT_LT(settings[0].second.size(), 256u);
  EXPECT_EQ(settings[1].second, "2");
}

}  // namespace
}  // namespace hakozuna::core
