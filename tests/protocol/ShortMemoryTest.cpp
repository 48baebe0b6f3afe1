// Allocations that fail in the tables of a rank: what was there before stays as it was.
#include "protocol/local/LocalWorker.h"
#include "protocol/local/RunProgress.h"
#include "tests/runtime/FailingAllocator.h"

#include <functional>
#include <gtest/gtest.h>
#include <optional>

namespace colldsl::test {
namespace {

using namespace protocol;

/// Calls it until no allocation of it is left to fail; how many failed.
int failEachOnce(const std::function<void()> &call, const std::function<void()> &expectAsBefore) {
  for (int failures = 0;; ++failures) {
    allocationsUntilFailure = failures;
    try {
      call();
      allocationsUntilFailure = -1;
      return failures;
    } catch (const std::bad_alloc &) {
      allocationsUntilFailure = -1;
    }
    expectAsBefore();
  }
}

TEST(ShortMemory, aStreamThatIsNotMadeIsNotInTheTable) {
  auto world = shm::World::create(1).take();
  LocalWorker worker(*world, Rank{0});
  std::vector<std::unique_ptr<RunProgress>> before;
  Tag tag{1, 1, 0, 0};
  int failures = 0;
  for (; tag.stream < 20; ++tag.stream) { // the table grows at some of them
    before.push_back(nullptr);
    failures += failEachOnce(
        [&] { before.back() = std::make_unique<RunProgress>(worker.progressTable(), tag); },
        [&] { EXPECT_FALSE(worker.progressTable()->isOverHere(tag)); });
    before.back()->whole(0);
    EXPECT_TRUE(worker.progressTable()->isOverHere(tag));
  }
  EXPECT_GT(failures, 20);
}

TEST(ShortMemory, streamsEndWithoutAllocating) {
  auto world = shm::World::create(1).take();
  LocalWorker worker(*world, Rank{0});
  std::optional<RunProgress> progress(std::in_place, worker.progressTable(), Tag{1, 1, 0, 0});
  allocationsUntilFailure = 0;
  progress.reset();
  EXPECT_EQ(allocationsUntilFailure, 0);
  allocationsUntilFailure = -1;
}

TEST(ShortMemory, anArenaKeepsItsBlocks) {
  shm::Arena arena(0, 1024);
  uint64_t first = 0;
  int failures =
      failEachOnce([&] { first = arena.allocate(64); }, [&] { EXPECT_EQ(arena.bytesInUse(), 0u); });
  EXPECT_GT(failures, 0);
  EXPECT_EQ(first, 0u);
  EXPECT_EQ(arena.allocate(960), 64u);
  allocationsUntilFailure = 0;
  EXPECT_EQ(arena.release(first), 64u);
  EXPECT_EQ(arena.release(64), 960u);
  EXPECT_EQ(allocationsUntilFailure, 0);
  allocationsUntilFailure = -1;
  EXPECT_EQ(arena.allocate(1024), 0u);
}

} // namespace
} // namespace colldsl::test
