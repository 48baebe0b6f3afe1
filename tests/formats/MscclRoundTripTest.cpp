// Schedules to algorithms of MSCCL: run by a machine of their own, and read back and
// proved.

#include "formats/MscclExport.h"
#include "formats/MscclImport.h"
#include "tests/formats/MscclMachine.h"
#include "tests/formats/StdlibSchedules.h"
#include "verifier/Verifier.h"

#include <gtest/gtest.h>

namespace colldsl::msccl {
namespace {

struct Case {
  const char *name;
  const char *collective; ///< as MSCCL calls it
  bool inPlace = false;
};

void PrintTo(const Case &c, std::ostream *out) { *out << c.name << (c.inPlace ? " in place" : ""); }

class RoundTrip : public ::testing::TestWithParam<Case> {
protected:
  Algorithm exported(uint32_t ranks) const {
    Result<Schedule> schedule = stdlibSchedule(GetParam().name, {ranks, GetParam().inPlace});
    EXPECT_TRUE(schedule) << schedule.message();
    Result<Algorithm> algorithm = fromSchedule(*schedule);
    EXPECT_TRUE(algorithm) << algorithm.message();
    return algorithm.take();
  }
};

constexpr uint32_t kRanks[] = {2, 3, 4, 5, 7, 8, 12};

TEST_P(RoundTrip, KeepsItsCollective) {
  for (uint32_t ranks : kRanks) {
    Algorithm algorithm = exported(ranks);
    EXPECT_EQ(spelling(algorithm.collective), GetParam().collective);
    EXPECT_EQ(algorithm.gpus.size(), ranks);
  }
}

TEST_P(RoundTrip, RunsAsMscclRunsIt) {
  for (uint32_t ranks : kRanks) {
    Algorithm algorithm = exported(ranks);
    for (uint64_t seed = 0; seed < 8; ++seed)
      ASSERT_EQ(runMachine(algorithm, seed), "") << ranks << " ranks, seed " << seed;
  }
}

TEST_P(RoundTrip, ReadsBackAndIsProved) {
  for (uint32_t ranks : kRanks) {
    std::string xml = print(exported(ranks));
    Result<Algorithm> back = read(xml);
    ASSERT_TRUE(back) << back.message();
    EXPECT_EQ(print(*back), xml);
    Result<Schedule> schedule = toSchedule(*back, "test.xml");
    ASSERT_TRUE(schedule) << schedule.message();
    for (uint64_t elements : {0, 1, 7}) {
      std::vector<Sizes> sizes(ranks);
      for (Sizes &size : sizes)
        size.elements = elements;
      proof::VerifyReport report = proof::verify(*schedule, sizes);
      ASSERT_TRUE(report.proved()) << ranks << " ranks, n = " << elements << "\n" << xml;
    }
  }
}

// What was read can be written again, and means the same.
TEST_P(RoundTrip, IsWrittenAgain) {
  for (uint32_t ranks : {3u, 4u}) {
    Algorithm first = exported(ranks);
    Result<Schedule> schedule = toSchedule(first, "test.xml");
    ASSERT_TRUE(schedule) << schedule.message();
    Result<Algorithm> second = fromSchedule(*schedule);
    ASSERT_TRUE(second) << second.message();
    EXPECT_EQ(spelling(second->collective), GetParam().collective);
    for (uint64_t seed = 0; seed < 8; ++seed)
      ASSERT_EQ(runMachine(*second, seed), "") << ranks << " ranks, seed " << seed;
  }
}

bool isProved(const Schedule &schedule) {
  Sizes sizes;
  sizes.elements = 2;
  return proof::verify(schedule, std::vector<Sizes>(schedule.numRanks(), sizes)).proved();
}

// 300 segments take two channels; the verifier's transports have one for both.
TEST(MscclChannels, SeveralOfAPairAreProved) {
  Result<Schedule> schedule = stdlibSchedule("bcast_chain", {3, false, 300 * 16384});
  ASSERT_TRUE(schedule) << schedule.message();
  Result<Algorithm> algorithm = fromSchedule(*schedule);
  ASSERT_TRUE(algorithm) << algorithm.message();
  EXPECT_EQ(algorithm->channels, 2u);
  EXPECT_EQ(runMachine(*algorithm, 1), "");
  Result<Schedule> back = toSchedule(*algorithm, "test.xml");
  ASSERT_TRUE(back) << back.message();
  EXPECT_TRUE(isProved(*back));
}

INSTANTIATE_TEST_SUITE_P(
    Stdlib, RoundTrip,
    ::testing::Values(
        Case{"allreduce_ring", "allreduce"}, Case{"allreduce_ring", "allreduce", true},
        Case{"allreduce_recursive_doubling", "allreduce"},
        Case{"allreduce_recursive_doubling", "allreduce", true},
        Case{"allreduce_rabenseifner", "allreduce"}, Case{"allreduce_reduce_bcast", "allreduce"},
        Case{"allreduce_recursive_multiplying", "allreduce"}, Case{"allgather_ring", "allgather"},
        Case{"allgather_ring", "allgather", true}, Case{"allgather_bruck", "allgather"},
        Case{"allgather_concurrent_bcast", "allgather", true},
        Case{"reduce_scatter_block_ring", "reduce_scatter"},
        Case{"reduce_scatter_block_recursive_halving", "reduce_scatter"},
        Case{"reduce_scatter_block_pairwise", "reduce_scatter"},
        Case{"alltoall_pairwise", "alltoall"}, Case{"alltoall_exchange", "alltoall"},
        Case{"alltoall_bruck", "alltoall"}, Case{"bcast_tree", "broadcast"},
        Case{"bcast_scatter_allgather", "broadcast"}, Case{"bcast_two_trees", "broadcast"},
        Case{"reduce_binomial", "reduce"}, Case{"reduce_binomial", "reduce", true},
        Case{"reduce_two_leaders", "reduce"}, Case{"reduce_rabenseifner", "reduce"}));

} // namespace
} // namespace colldsl::msccl
