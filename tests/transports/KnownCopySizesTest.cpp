// The file of the sizes that jobs measured.
#include "transports/shm/KnownCopySizes.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

namespace colldsl::shm {
namespace {

namespace fs = std::filesystem;

class KnownCopySizes : public testing::Test {
protected:
  ~KnownCopySizes() override { fs::remove_all(folder_); }
  uint64_t add(uint64_t single, uint32_t eager) {
    return addCopySizes(path_, {single, eager}).singleCopyMinBytes;
  }

  std::string folder_ = testing::TempDir() + "colldsl-sizes-" + std::to_string(getpid());
  std::string path_ = folder_ + "/colldsl/sizes";
};

TEST_F(KnownCopySizes, CountOnceThereAreEnough) {
  for (size_t i = 1; i <= kEnoughCopySizes; ++i) {
    EXPECT_FALSE(knownCopySizes(path_)) << i;
    add(8192, 100);
  }
  std::optional<CopySizes> known = knownCopySizes(path_);
  ASSERT_TRUE(known);
  EXPECT_EQ(known->singleCopyMinBytes, 8192u);
  EXPECT_EQ(known->rendezvousThresholdBytes, 100u);
}

TEST_F(KnownCopySizes, AreTheMiddleOfTheMeasurements) {
  for (uint64_t single : {8192, 262144, 65536, 8192, 65536})
    add(single, static_cast<uint32_t>(single - 1));
  EXPECT_EQ(knownCopySizes(path_)->singleCopyMinBytes, 65536u);
  EXPECT_EQ(knownCopySizes(path_)->rendezvousThresholdBytes, 65535u);
}

TEST_F(KnownCopySizes, AreTheMiddleAlsoForAJobThatMeasures) {
  add(8192, 0);
  add(8192, 0);
  EXPECT_EQ(add(262144, 0), 8192u);
}

TEST_F(KnownCopySizes, AreThoseOfTheJobWhereNothingCanBeWritten) {
  std::ofstream(folder_) << "in the way";
  EXPECT_EQ(add(4096, 0), 4096u);
  EXPECT_EQ(add(8192, 0), 8192u);
  EXPECT_FALSE(knownCopySizes(path_));
  EXPECT_EQ(addCopySizes("", {123, 4}).singleCopyMinBytes, 123u);
}

TEST_F(KnownCopySizes, IgnoreAFileOfAnotherKind) {
  fs::create_directories(fs::path(path_).parent_path());
  for (const char *text : {"", "colldsl copy sizes 2\n1 1\n1 1\n1 1\n1 1\n1 1\n", "x\n",
                           "colldsl copy sizes 1\n1 1\n1 1\n0 1\n1 1\n1 1\n1 1\n",
                           "colldsl copy sizes 1\n1 1\n1 1\n1 -1000000000000\n1 1\n1 1\n1 1\n"}) {
    std::ofstream(path_) << text;
    EXPECT_FALSE(knownCopySizes(path_)) << text;
  }
}

TEST_F(KnownCopySizes, LieInTheUsersCache) {
  setenv("XDG_CACHE_HOME", "/some/cache", 1);
  EXPECT_EQ(copySizesPath().find("/some/cache/colldsl/copy-sizes-"), 0u);
  setenv("XDG_CACHE_HOME", "relative", 1);
  setenv("HOME", "/some/home", 1);
  EXPECT_EQ(copySizesPath().find("/some/home/.cache/colldsl/copy-sizes-"), 0u);
  unsetenv("HOME");
  EXPECT_EQ(copySizesPath(), "");
}

} // namespace
} // namespace colldsl::shm
