#include "launcher/lines.h"

#include <gtest/gtest.h>

namespace hakozuna::launcher {
namespace {

TEST(LineNameOfFile, IsWhatStandsBetweenPrefixAndSuffix) {
  EXPECT_EQ(line_name_of_file("libhakozuna_hz8.so"), "hz8");
  EXPECT_EQ(line_name_of_file("libhakozuna_hz10.so.0.1.0"), "hz10");
}

TEST(LineNameOfFile, IsNothingForOtherFiles) {
  for (const char* file : {"libhakozuna_.so", "libhakozuna_hz8.a", "libhakozuna_hz8.so.debug",
                           "libhakozuna_hz8.so_old", "libhakozuna.so", "libjemalloc.so.2", ""}) {
    EXPECT_EQ(line_name_of_file(file), std::nullopt) << file;
  }
}

TEST(PreloadObstacle, NamesThePathThatLdPreloadCannotExpress) {
  EXPECT_EQ(preload_obstacle("/usr/lib/libhakozuna_hz8.so"), std::nullopt);
  for (const char* path : {"/a b/libhakozuna_hz8.so", "/a:b/libhakozuna_hz8.so"}) {
    const auto obstacle = preload_obstacle(path);
    ASSERT_TRUE(obstacle.has_value());
    EXPECT_NE(obstacle->find(path), std::string::npos);
  }
}

}  // namespace
}  // namespace hakozuna::launcher
