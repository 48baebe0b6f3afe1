#include "tools/tune/mpi/Arms.h"

#include <gtest/gtest.h>

#include <csignal>

namespace colldsl::tools {
namespace {

class MpiJobTest : public testing::Test {
protected:
  Arm arm(int algorithm) const {
    Arm made;
    made.what.name = std::to_string(algorithm);
    made.words = algorithm == 0 ? "-" : "coll_tuned_bcast_algorithm=" + made.what.name;
    return made;
  }

  /// The algorithms that are left.
  std::string measure(std::vector<Arm> all) {
    MpiLaunch launch{{FAKE_MPIRUN}, "program", /*callSeconds=*/1};
    ArmRunner runner(launch, "shared", 2, [&](const std::string &text) { notes_ += text + "\n"; });
    Arms arms;
    for (Arm &a : all)
      arms.push_back(&a);
    Status s = runner.measure({"bcast", 64, 2, 6}, arms);
    EXPECT_TRUE(s) << s.message();
    std::string left;
    for (const Arm *a : arms) {
      EXPECT_EQ(a->times.size(), 6u);
      left += a->what.name;
    }
    return left;
  }

  std::string notes_;
};

TEST_F(MpiJobTest, algorithmsThatFailAreLeftOutAndTheOthersAreMeasured) {
  EXPECT_EQ(measure({arm(0), arm(4), arm(1), arm(3), arm(5), arm(2)}), "012");
  EXPECT_EQ(notes_, "bcast 64 B on 2 ranks: '4' crashes, or never ends: left out\n"
                    "bcast 64 B on 2 ranks: '3' gives a wrong result: left out\n");
}

TEST_F(MpiJobTest, algorithmsThatNeverEndAreLeftOut) {
  EXPECT_EQ(measure({arm(0), arm(6), arm(1)}), "01");
  EXPECT_EQ(notes_, "bcast 64 B on 2 ranks: '6' crashes, or never ends: left out\n");
}

TEST_F(MpiJobTest, aJobThatEndsInItsRoundsGivesThePointUp) {
  EXPECT_EQ(measure({arm(0), arm(7), arm(1)}), "");
  EXPECT_EQ(notes_, "bcast 64 B on 2 ranks is not measured: the job ended while it measured bcast: "
                    "the network is down\n");
}

TEST_F(MpiJobTest, armsOfSeveralJobsTakeTurns) {
  Arm own = arm(0), other = arm(0), crashes = arm(0);
  other.environment = {"OMPI_MCA_coll_tuned_bcast_algorithm=1"};
  crashes.environment = {"OMPI_MCA_coll_tuned_bcast_algorithm=4"};
  other.what.name = "1";
  crashes.what.name = "4";
  EXPECT_EQ(measure({own, crashes, other}), "01");
}

TEST_F(MpiJobTest, whatCannotBeStartedIsAnError) {
  MpiLaunch launch{{"/no/mpirun"}, "program"};
  Result<std::unique_ptr<Job>> job = Job::start(launch, 2, "shared", {});
  ASSERT_FALSE(job);
  EXPECT_EQ(job.message(), "cannot start '/no/mpirun': No such file or directory");
}

} // namespace
} // namespace colldsl::tools
