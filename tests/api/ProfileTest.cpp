// Decisions of a machine profile: all ranks go by the same ones, or by none.
#include "tests/api/Launcher.h"

#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <regex>
#include <sstream>
#include <unistd.h>

namespace colldsl::test {
namespace {

std::string pathOf(const std::string &name) {
  return ::testing::TempDir() + "colldsl-api-" + std::to_string(getpid()) + "-" + name;
}

/// A profile of this machine with a decision for a broadcast on two ranks.
std::string makeProfile(const std::string &name, const std::string &use) {
  static const std::string plain = [] {
    std::string path = pathOf("plain");
    std::string command =
        "COLLDSL_PROFILE='" + path +
        "' " COLLDSL_PROGRAM
        " tune --noise 1000000 --time 1ms --ranks 2 --functions barrier > /dev/null 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    unlink(path.c_str());
    return text.str();
  }();
  std::string text = plain;
  size_t at = text.find("\"decisions\": []");
  EXPECT_NE(at, std::string::npos) << text;
  text.insert(at + std::string("\"decisions\": [").size(),
              R"({"function":"bcast","ranks":2,"nodes":1,"bytes":[0],"use":")" + use + "\"}");
  std::string path = pathOf(name);
  std::ofstream(path) << text;
  return path;
}

std::string chosen(coll::Communicator &comm) {
  std::vector<int32_t> data(16, comm.rank() == 0 ? 7 : 0);
  coll::Plan plan(comm, "bcast");
  plan.type<int32_t>().count(data.size()).bind("buf", data).commit();
  plan.run(20);
  if (data.back() != 7)
    return "wrong data";
  std::string reason = plan.info().reason; // rule 161, say, which changes with the rules
  return plan.collective() + ", " + std::regex_replace(reason, std::regex("rule [0-9]+"), "rule N");
}

std::string expectChoice(const colldsl_bootstrap &bootstrap, const std::string &profile,
                         const std::string &expected) {
  setenv("COLLDSL_PROFILE", profile.c_str(), 1);
  coll::Context context;
  coll::LaunchedCommunicator comm(context, bootstrap);
  std::string found = chosen(comm);
  return found == expected ? "" : "found " + found + ", not " + expected;
}

constexpr const char *kByDecision = "bcast_binomial, decision 0 of the profile for bcast";
constexpr const char *kByRule = "bcast_flat, rule N for bcast";

TEST(ApiProfile, decisionsComeBeforeRules) {
  std::string file = makeProfile("one", "bcast_binomial");
  auto body = [&](const colldsl_bootstrap &b) { return expectChoice(b, file, kByDecision); };
  EXPECT_EQ(launch(2, body), "");
  auto none = [&](const colldsl_bootstrap &b) { return expectChoice(b, "", kByRule); };
  EXPECT_EQ(launch(2, none), "");
  unlink(file.c_str());
}

TEST(ApiProfile, ranksThatDisagreeGoByTheRules) {
  std::string one = makeProfile("one", "bcast_binomial"),
              other = makeProfile("other", "bcast_kary");
  EXPECT_EQ(launch(2,
                   [&](const colldsl_bootstrap &b) {
                     return expectChoice(b, b.rank == 0 ? one : other, kByRule);
                   }),
            "");
  EXPECT_EQ(launch(2,
                   [&](const colldsl_bootstrap &b) {
                     return expectChoice(b, b.rank ? one : "", kByRule);
                   }),
            "");
  unlink(one.c_str());
  unlink(other.c_str());
}

} // namespace
} // namespace colldsl::test
