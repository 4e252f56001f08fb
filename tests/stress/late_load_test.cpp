// Libraries that are loaded while the program runs: one that allocates, and the line itself.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <thread>

#include "support/line_under_test.h"
#include "support/process.h"
#include "support/settings.h"

namespace hakozuna::test {
namespace {

TEST(LateLoad, OfALibraryThatAllocates) {
  const std::string path = settings().helpers + "/allocating_plugin.so";
  for (int i = 0; i < 20; ++i) {
    void* plugin = dlopen(path.c_str(), RTLD_NOW);
    ASSERT_NE(plugin, nullptr) << dlerror();
    auto* text = reinterpret_cast<char* (*)()>(dlsym(plugin, "plugin_text"));
    ASSERT_NE(text, nullptr);
    char* copy = text();
    if (line_loaded()) {
      EXPECT_EQ(api().classify(copy), HAKOZUNA_VALID);
    }
    std::thread([text] { std::free(text()); }).join();
    dlclose(plugin);
    std::free(copy);
  }
}

TEST(LateLoad, OfTheLineItself) {
  if (settings().library.empty()) GTEST_SKIP() << "no --library was given";
  const Outcome outcome =
      run({.arguments = {settings().helpers + "/late_load_program", settings().library},
           .environment = {{"LD_PRELOAD", ""}}});
  EXPECT_FALSE(outcome.timed_out);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
}

}  // namespace
}  // namespace hakozuna::test
