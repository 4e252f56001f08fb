#include "launcher/environment.h"

#include <gtest/gtest.h>

#include <string_view>

namespace hakozuna::launcher {
namespace {

constexpr const char* kLibrary = "/opt/lib/libhakozuna_hz8.so";

std::string preload_after(const char* before) {
  Environment environment;
  if (before) environment.set("LD_PRELOAD", before);
  environment.preload(kLibrary);
  return environment.get("LD_PRELOAD").value_or("");
}

TEST(Environment, PreloadsAloneWhereNothingWas) {
  EXPECT_EQ(preload_after(nullptr), kLibrary);
  EXPECT_EQ(preload_after(""), kLibrary);
}

TEST(Environment, PreloadsBeforeWhatWasThereAndKeepsItsOrder) {
  EXPECT_EQ(preload_after("/x/liba.so libb.so:/y/libc.so"),
            std::string(kLibrary) + ":/x/liba.so:libb.so:/y/libc.so");
}

TEST(Environment, ReplacesAnotherLine) {
  EXPECT_EQ(preload_after("/x/liba.so:/z/libhakozuna_hz3.so.0:libhakozuna_hz8.so"),
            std::string(kLibrary) + ":/x/liba.so");
}

TEST(Environment, RemovingTheOnlyLineRemovesTheVariable) {
  Environment environment;
  environment.set("LD_PRELOAD", kLibrary);
  environment.remove_preloaded_lines();
  EXPECT_EQ(environment.get("LD_PRELOAD"), std::nullopt);
}

TEST(Environment, TellsNamesFromTheirBeginnings) {
  Environment environment;
  environment.set("NAME_LONGER", "1");
  environment.set("NAME", "");
  environment.set("NAME", "a=b");
  EXPECT_EQ(environment.get("NAME"), "a=b");
  EXPECT_EQ(environment.get("NAM"), std::nullopt);
  environment.unset("NAME");
  EXPECT_EQ(environment.get("NAME"), std::nullopt);
  EXPECT_EQ(environment.get("NAME_LONGER"), "1");
  const std::vector<char*> pointers = environment.pointers();
  ASSERT_EQ(pointers.size(), 2u);
  EXPECT_EQ(std::string_view(pointers[0]), "NAME_LONGER=1");
  EXPECT_EQ(pointers[1], nullptr);
}

}  // namespace
}  // namespace hakozuna::launcher
