// docs/options.md is what the table says. UPDATE_DOCUMENTS=1 in the environment writes it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "common/core/option_messages.h"

namespace hakozuna::core {
namespace {

std::filesystem::path document() {
  // <root>/tests/unit/core/<this file>
  const std::filesystem::path here = std::filesystem::path(__FILE__).parent_path();
  return here.parent_path().parent_path().parent_path() / "docs" / "options.md";
}

TEST(OptionsDocument, IsWhatTheTableSays) {
  char buffer[16384];
  TextWriter out(buffer, sizeof buffer);
  write_markdown(out);
  ASSERT_EQ(out.length(), out.stored().size());
  if (std::getenv("UPDATE_DOCUMENTS")) std::ofstream(document()) << out.stored();
  std::ifstream file(document());
  ASSERT_TRUE(file) << document();
  std::ostringstream contents;
  contents << file.rdbuf();
  EXPECT_EQ(contents.str(), out.stored()) << "run this test with UPDATE_DOCUMENTS=1";
}

}  // namespace
}  // namespace hakozuna::core
