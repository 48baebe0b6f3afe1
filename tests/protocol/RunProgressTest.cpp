// Which runs a rank has ended, as another one sees it. One thread is both ranks.
#include "protocol/local/RunProgress.h"
#include "protocol/local/LocalWorker.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace colldsl::test {
namespace {

using namespace protocol;

class Progresses : public ::testing::Test {
protected:
  Progresses() {
    for (uint32_t r : {0u, 1u})
      world->control(Rank{r}).pid.store(getpid());
    there = std::make_unique<LocalWorker>(*world, Rank{0});
    here = std::make_unique<LocalWorker>(*world, Rank{1});
    progress.emplace(there->progressTable(), Tag{1, 1, 0, 0});
  }
  bool hasEnded(uint32_t run) const {
    return here->progressTable()->isOver(Rank{0}, {1, 1, run, 0});
  }

  std::unique_ptr<shm::World> world = shm::World::create(2).take();
  std::unique_ptr<LocalWorker> there, here;
  std::optional<RunProgress> progress;
};

TEST_F(Progresses, coverWholeRuns) {
  EXPECT_FALSE(hasEnded(1));
  progress->whole(1);
  progress->whole(4); // others are of other streams
  EXPECT_TRUE(hasEnded(1));
  EXPECT_TRUE(hasEnded(4));
  EXPECT_FALSE(hasEnded(5));
}

TEST_F(Progresses, coverRunsUpToTheOldestOpenOne) {
  for (uint32_t run = 5; run < 9; ++run)
    progress->begin(run);
  progress->end(6);
  EXPECT_TRUE(hasEnded(4));
  EXPECT_FALSE(hasEnded(5));
  EXPECT_FALSE(hasEnded(6));
  progress->end(5);
  EXPECT_TRUE(hasEnded(6));
  EXPECT_FALSE(hasEnded(7));
}

// A communicator makes more than 2^31 runs of other streams between two of this one.
TEST_F(Progresses, sayNothingOfRunsThatAreFarAhead) {
  progress->whole(7);
  for (uint32_t ahead : {1u << 30, 1u << 31, 3u << 30})
    EXPECT_FALSE(hasEnded(7 + ahead)) << ahead;
  progress->whole(UINT32_MAX);
  EXPECT_TRUE(hasEnded(UINT32_MAX));
  EXPECT_FALSE(hasEnded(0));
  progress->whole(0);
  EXPECT_TRUE(hasEnded(UINT32_MAX));
  EXPECT_TRUE(hasEnded(0));
}

TEST_F(Progresses, coverEveryRunOnceAllHaveEnded) {
  progress->endAll();
  for (uint32_t run : {0u, 1u, 1u << 28, 1u << 30, 3u << 30, UINT32_MAX})
    EXPECT_TRUE(hasEnded(run)) << run;
  EXPECT_TRUE(there->progressTable()->isOverHere({1, 1, 1u << 30, 0}));
  progress.reset();
  progress.emplace(there->progressTable(), Tag{1, 1, 0, 0});
  EXPECT_FALSE(hasEnded(1)); // whatever counter it uses
}

} // namespace
} // namespace colldsl::test
