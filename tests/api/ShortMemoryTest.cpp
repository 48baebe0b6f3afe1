// Allocations that fail while a plan is committed and bound: the rank gets COLLDSL_ERROR_MEMORY,
// the others an error or what they wanted, and the next commit works.
#include "tests/api/Launcher.h"
#include "tests/runtime/FailingAllocator.h"

#include <gtest/gtest.h>

namespace colldsl::test {
namespace {

constexpr int64_t kMost = 3000; // more than a commit makes

std::string sumOf(coll::Plan &plan, std::vector<int32_t> &y, uint32_t ranks) {
  colldsl_status done = colldsl_plan_start(plan.get());
  if (done == COLLDSL_OK)
    done = colldsl_plan_wait(plan.get(), 10);
  if (done != COLLDSL_OK)
    return colldsl_last_error();
  return y[0] == static_cast<int32_t>(ranks) ? "" : "the sum is " + std::to_string(y[0]);
}

/// Commits fail on the last rank until no allocation is left to fail.
std::string failEachOnce(coll::Communicator &comm, uint32_t ranks) {
  bool isShort = comm.rank() == ranks - 1;
  std::vector<int32_t> x(8, 1), y(8);
  int failures = 0;
  for (int64_t n = 0; n < kMost; n += n < 20 ? 1 : 17) {
    coll::Plan plan(comm, "allreduce");
    plan.count(8).input("x", x).bind("y", y).op(COLLDSL_SUM);
    allocationsUntilFailure = isShort ? n : -1;
    colldsl_status status = colldsl_plan_commit(plan.get());
    allocationsUntilFailure = -1;
    failures += status != COLLDSL_OK;
    if (isShort && status != COLLDSL_OK && status != COLLDSL_ERROR_MEMORY)
      return "allocation " + std::to_string(n) + ": " + colldsl_last_error();
    coll::Plan next(comm, "allreduce");
    next.count(8).input("x", x).bind("y", y).op(COLLDSL_SUM);
    if (colldsl_plan_commit(next.get()) != COLLDSL_OK)
      return "after allocation " + std::to_string(n) + ": " + colldsl_last_error();
    if (std::string why = sumOf(next, y, ranks); !why.empty())
      return why;
  }
  return isShort && failures == 0 ? "no allocation failed" : "";
}

TEST(ApiMemory, EachAllocationOfACommitFailsOnce) {
  for (uint32_t ranks : {1u, 2u, 3u})
    EXPECT_EQ(runRanks(ranks, [=](coll::Communicator &comm) { return failEachOnce(comm, ranks); }),
              "");
}

} // namespace
} // namespace colldsl::test
