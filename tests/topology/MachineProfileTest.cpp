#include "topology/MachineProfile.h"
#include "topology/ProfileFile.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <random>

namespace colldsl {
namespace {

MachineProfile example() {
  MachineProfile profile;
  profile.tool = "colldsl 1";
  profile.measured = "2026-11-27";
  profile.libraryHash = 0x0123456789abcdef;
  profile.machine = {"A processor \"9\"", 8, 77};
  profile.model = MachineModel::flat();
  profile.singleCopyFrom = 16384;
  profile.singleCopy = PerByte::fromNs(0.5);
  profile.wakeupNs = 50000;
  profile.decisions = {
      {"bcast", 4, 1, 0, 4096, {"bcast_chain", {{"segment", 8192}}}, false, 1.25, true},
      {"allreduce", 4, 2, 65536, UINT64_MAX, {"allreduce_ring", {}}, true, 2, false, true}};
  profile.decisions[0].noise = 0.25;
  TuningPoint point;
  point.function = "bcast";
  point.ranks = 4;
  point.bytes = 64;
  point.shippedNs = 812.5;
  point.shipped = {"bcast_flat", {}};
  point.entries = {{{"bcast_chain", {{"segment", 8192}}}, 650}, {{"bcast_binomial", {}}, 700.25}};
  point.margin = 1.25;
  point.least = 1.2;
  point.spread = 0.25;
  point.drift = 0.125;
  profile.points = {point};
  point.bytes = 128;
  point.isLearned = true;
  profile.points.push_back(point);
  return profile;
}

std::string errorOf(const std::string &json) {
  Result<MachineProfile> profile = MachineProfile::parse(json);
  return profile ? "none" : profile.message();
}

std::string replaced(std::string text, const std::string &from, const std::string &to) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(MachineProfileTest, readsBackWhatWasWritten) {
  MachineProfile profile = example();
  Result<MachineProfile> again = MachineProfile::parse(profile.toJson());
  ASSERT_TRUE(again.ok()) << again.message();
  EXPECT_EQ(again->toJson(), profile.toJson());
  EXPECT_EQ(again->machine, profile.machine);
  EXPECT_EQ(again->model, profile.model);
  EXPECT_EQ(again->libraryHash, profile.libraryHash);
  EXPECT_EQ(again->decisions[0].use, profile.decisions[0].use);
  EXPECT_EQ(again->decisions[1].maxBytes, UINT64_MAX);
  EXPECT_TRUE(again->decisions[1].needsCommutative);
  EXPECT_EQ(again->points[0].entries[1].ns, 700.25);
  EXPECT_EQ(again->points[0].spread, 0.25);
  EXPECT_EQ(again->points[0].drift, 0.125);
  EXPECT_EQ(again->decisions[0].noise, 0.25);
  EXPECT_EQ(again->measured, "2026-11-27");
  EXPECT_EQ(again->hash(), profile.hash());
  profile.decisions[0].maxBytes = 4097;
  EXPECT_NE(again->hash(), profile.hash());
}

TEST(MachineProfileTest, errorsNameThePlace) {
  std::string json = example().toJson();
  EXPECT_EQ(errorOf("{}"), "profile: format is not \"colldsl machine profile\"");
  EXPECT_EQ(errorOf(replaced(json, "\"version\": 2", "\"version\": 1")),
            "profile: version is 1, this colldsl reads 2");
  EXPECT_EQ(errorOf(replaced(json, "\"noise\":0.25", "\"noise\":0.75")),
            "profile: decisions[0].noise is 0.75, more than noiseLimit, 0.5");
  EXPECT_EQ(errorOf(replaced(json, "\"noiseLimit\": 0.5", "\"noiseLimit\": 0.125")),
            "profile: decisions[0].noise is 0.25, more than noiseLimit, 0.125");
  for (const char *day : {"yesterday", "2026-11-2", "2026/11/27", "20261127"})
    EXPECT_EQ(errorOf(replaced(json, "2026-11-27", day)),
              "profile: measured is no day, YEAR-MONTH-DAY");
  EXPECT_EQ(errorOf(replaced(json, "2026-11-27", "")), "none");
  EXPECT_EQ(errorOf(replaced(json, "\"ranks\":4", "\"ranks\":0")),
            "profile: decisions[0].ranks is missing, or 0");
  EXPECT_EQ(errorOf(replaced(json, "[65536]", "[2,1]")),
            "profile: decisions[1].bytes holds nothing");
  EXPECT_EQ(
      errorOf(replaced(json, "segment=8192", "segment=8K")),
      "profile: decisions[0].use is 'bcast_chain segment=8K': 'segment=8K' is not NAME=NUMBER");
  EXPECT_EQ(errorOf(replaced(json, "\"verified\"", "\"certain\"")),
            "profile: decisions[0].certain is not known here");
  EXPECT_EQ(errorOf(replaced(json, "\"ns\":650.0", "\"ns\":-1")),
            "profile: points[0].others[0].ns is no number from 0 on");
  EXPECT_EQ(errorOf(replaced(json, "0123456789abcdef", "0123")),
            "profile: library is no number of 16 hexadecimal digits");
  EXPECT_EQ(errorOf(replaced(json, "\"distances\"", "\"distance\"")),
            "profile: model.distances is missing");
}

TEST(MachineProfileTest, brokenTextIsAnErrorAndNoMore) {
  std::string json = example().toJson();
  for (size_t length = 0; length + 2 < json.size(); length += 7)
    EXPECT_FALSE(MachineProfile::parse(json.substr(0, length)).ok()) << length;
  std::mt19937 random(1);
  constexpr std::string_view kBytes = "\"{}[],:0123456789-.eE truefalsn\\\x80\x00";
  size_t read = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = json;
    for (unsigned k = 0; k <= random() % 3; ++k) {
      size_t at = random() % text.size();
      if (random() % 4 == 0)
        text.erase(at, random() % 40);
      else
        text[at] = kBytes[random() % kBytes.size()];
    }
    if (Result<MachineProfile> profile = MachineProfile::parse(text)) {
      ++read;
      EXPECT_TRUE(MachineProfile::parse(profile->toJson()).ok()) << text;
    } else {
      EXPECT_EQ(profile.message().find("profile: "), 0u) << profile.message();
    }
  }
  EXPECT_GT(read, 100u) << "most of what is changed should be noticed, not all";
}

class ProfileFileTest : public ::testing::Test {
protected:
  void TearDown() override {
    unsetenv("COLLDSL_PROFILE");
    unsetenv("XDG_CONFIG_HOME");
    std::filesystem::remove(file_);
  }
  std::string file_ = ::testing::TempDir() + "colldsl-profile-" + std::to_string(getpid());
};

TEST_F(ProfileFileTest, isWhereTheEnvironmentHasIt) {
  setenv("COLLDSL_PROFILE", "/a/b", 1);
  EXPECT_EQ(profilePath(), "/a/b");
  setenv("COLLDSL_PROFILE", "", 1);
  EXPECT_EQ(profilePath(), "");
  unsetenv("COLLDSL_PROFILE");
  setenv("XDG_CONFIG_HOME", "/x", 1);
  EXPECT_EQ(profilePath(), "/x/colldsl/profile.json");
  setenv("XDG_CONFIG_HOME", "relative", 1);
  setenv("HOME", "/me", 1);
  EXPECT_EQ(profilePath(), "/me/.config/colldsl/profile.json");
}

TEST_F(ProfileFileTest, countsOnTheMachineThatItIsOfAlone) {
  MachineProfile profile = example();
  auto write = [&] { std::ofstream(file_) << profile.toJson(); };
  setenv("COLLDSL_PROFILE", file_.c_str(), 1);
  OwnProfile none = readOwnProfile();
  EXPECT_FALSE(none.profile);
  EXPECT_EQ(none.problem, "") << "there is no file";
  write();
  OwnProfile other = readOwnProfile();
  EXPECT_FALSE(other.profile);
  EXPECT_NE(other.problem.find("it is of another machine (A processor"), std::string::npos)
      << other.problem;
  Result<MachineFingerprint> here = fingerprintOfThisMachine();
  ASSERT_TRUE(here.ok()) << here.message();
  profile.machine = *here;
  write();
  EXPECT_TRUE(readOwnProfile().profile);
  profile.machine.cores += 1;
  write();
  EXPECT_FALSE(readOwnProfile().profile);
  std::ofstream(file_) << "{";
  EXPECT_NE(readOwnProfile().problem.find(file_ + "': profile: "), std::string::npos);
}

TEST_F(ProfileFileTest, isWrittenAsAWhole) {
  namespace fs = std::filesystem;
  std::string folder = file_ + "-folder", path = folder + "/of/it/p.json";
  Status s = writeProfile(path, example());
  ASSERT_TRUE(s.ok()) << s.message();
  auto text = [](const std::string &from) {
    std::ifstream file(from);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  EXPECT_EQ(text(path), example().toJson());
  // The file that a link leads to, with its mode; nothing is left beside it.
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink(path, folder + "/link");
  MachineProfile other = example();
  other.decisions.clear();
  ASSERT_TRUE(writeProfile(folder + "/link", other).ok());
  EXPECT_TRUE(fs::is_symlink(folder + "/link"));
  EXPECT_EQ(text(path), other.toJson());
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder + "/of/it"), {}), 1);
  // What is in the way stays.
  EXPECT_NE(writeProfile(folder, other).message().find("is not an ordinary file"),
            std::string::npos);
  EXPECT_NE(writeProfile(path + "/p.json", other).message().find("cannot make the folder"),
            std::string::npos);
  EXPECT_EQ(text(path), other.toJson());
  fs::remove_all(folder);
}

} // namespace
} // namespace colldsl
