// Plans that run the images of a library, and what colldsl_plan_info() tells of plans.
#include "tests/api/Launcher.h"

#include <cstddef>
#include <gtest/gtest.h>

namespace colldsl::test {
namespace {

constexpr uint32_t kRanks = 3;
constexpr uint64_t kCount = 1024;

template <typename T> struct Sum {
  Sum(coll::Communicator &comm, coll::Library &library, const char *name, uint64_t count = kCount)
      : ranks(comm.size()), x(count, T(comm.rank() + 1)), y(count), plan(comm, library, name) {
    plan.type<T>().count(count).input("x", x).bind("y", y);
  }
  /// Empty: the sum is right.
  std::string run() {
    plan.commit().run(20);
    T all = 0;
    for (uint32_t r = 1; r <= ranks; ++r)
      all += T(r);
    return y == std::vector<T>(y.size(), all) ? "" : "wrong sum";
  }
  uint32_t ranks;
  std::vector<T> x, y;
  coll::Plan plan;
};

std::string told(const coll::Plan &plan) {
  colldsl_plan_description info = plan.info();
  return std::string(info.collective) + "; " + info.reason + "; " + info.schedule + "; " +
         info.arguments + "; " + info.passes + "; proved for '" + info.proved_for + "'; " +
         std::to_string(info.min_count) + ".." + std::to_string(info.max_count);
}

/// Commits and runs an allreduce of the library; empty: its sum and what is told of it are right.
template <typename T>
std::string sums(uint32_t ranks, const char *name, const std::string &expected,
                 const colldsl_options &options = COLLDSL_OPTIONS_INIT) {
  auto body = [&](coll::Communicator &comm) -> std::string {
    coll::Context context;
    coll::Library library(context, COLLDSL_IMAGES);
    Sum<T> sum(comm, library, name);
    std::string wrong = sum.run();
    return !wrong.empty() ? wrong : told(sum.plan) == expected ? "" : told(sum.plan);
  };
  return runRanks(ranks, body, options);
}

TEST(ApiImages, runWhereTheyServeTheCall) {
  EXPECT_EQ(sums<int32_t>(kRanks, "allreduce_ring",
                          "allreduce_ring; named; image; ; default; proved for 'these 3 ranks'; "
                          "1..18446744073709551615"),
            "");
  EXPECT_EQ(
      sums<int32_t>(
          kRanks, "allreduce",
          "allreduce_ring; rule 1 for allreduce; image; ; default; proved for 'these 3 ranks'; "
          "1..18446744073709551615"),
      "");
}

TEST(ApiImages, ofAnotherTypeAreInstantiated) {
  EXPECT_EQ(sums<double>(kRanks, "allreduce_ring",
                         "allreduce_ring; named; program; ; tune{most-ops=4096}; proved for "
                         "'all P, but for 'deterministic''; 1..18446744073709551615"),
            "");
}

TEST(ApiImages, proofMayBeRequired) {
  colldsl_options options = COLLDSL_OPTIONS_INIT;
  options.least_proof = COLLDSL_PROOF_EXACT;
  EXPECT_EQ(sums<int32_t>(kRanks, "allreduce_ring",
                          "allreduce_ring; named; image; ; default; proved for 'these 3 ranks'; "
                          "1..18446744073709551615",
                          options),
            "");
  // What no image serves is proved when the plan is committed.
  EXPECT_EQ(sums<double>(kRanks, "allreduce_ring",
                         "allreduce_ring; named; program; ; tune{most-ops=4096}; proved for "
                         "'all P, but for 'deterministic'; with all promises for these 3 "
                         "ranks'; 1..18446744073709551615",
                         options),
            "");
}

/// Sums by the library of an imported schedule; the description of the plan.
template <typename T>
std::string sumsImported(uint32_t ranks, const char *name, uint64_t count,
                         const char *file = COLLDSL_IMPORTED) {
  colldsl_options options = COLLDSL_OPTIONS_INIT;
  options.least_proof = COLLDSL_PROOF_EXACT;
  auto body = [&](coll::Communicator &comm) -> std::string {
    coll::Context context;
    coll::Library library(context, file);
    Sum<T> sum(comm, library, name, count);
    std::string wrong = sum.run();
    return !wrong.empty() ? wrong : comm.rank() == 0 ? told(sum.plan) : "";
  };
  return runRanks(ranks, body, options);
}

TEST(ApiImages, importedSchedulesServeTheirFunction) {
  const char *all = "pair_halves; rule 1 for allreduce; image; ; ; proved for 'these 2 ranks'; "
                    "0..18446744073709551615\n";
  for (uint64_t count : {0, 2, 1024}) {
    EXPECT_EQ(sumsImported<int32_t>(2, "allreduce", count), std::string("rank 0: ") + all);
    EXPECT_EQ(sumsImported<double>(2, "allreduce", count), std::string("rank 0: ") + all);
  }
  EXPECT_EQ(sumsImported<int16_t>(2, "pair_halves", 6),
            "rank 0: pair_halves; named; image; ; ; proved for 'these 2 ranks'; "
            "0..18446744073709551615\n");
}

TEST(ApiImages, importedSchedulesServeNothingElse) {
  auto has = [](const std::string &text, const char *words) {
    EXPECT_NE(text.find(words), std::string::npos) << text;
  };
  has(sumsImported<int32_t>(2, "allreduce", 1023),
      "no rule for 2 ranks and 4092 bytes of it: 'pair_halves' was imported; it serves 2 ranks, ");
  has(sumsImported<int32_t>(3, "allreduce", 1024), "no rule for 3 ranks and 4096 bytes of it");
  for (uint32_t ranks : {2, 3})
    has(sumsImported<int32_t>(ranks, "pair_halves", 1023),
        "'pair_halves' was imported; it serves 2 ranks, n = 0.. in multiples of 2, i8; 2 ranks, ");
  for (const char *name : {"allreduce", "pair_halves"})
    has(sumsImported<int32_t>(2, name, 1024, COLLDSL_IMPORTED ".unproved"),
        "'pair_halves' is not proved, but must be proved");
}

// The next n is bound anew, if the chunks of the schedule divide it.
TEST(ApiImages, importedSchedulesHoldForMultiples) {
  auto body = [](coll::Communicator &comm) -> std::string {
    coll::Context context;
    coll::Library library(context, COLLDSL_IMPORTED);
    Sum<int32_t> sum(comm, library, "allreduce", 6);
    std::string wrong = sum.run();
    if (colldsl_plan_set_count(sum.plan.get(), 5) == COLLDSL_OK)
      return "took an odd number";
    std::string refused = colldsl_last_error();
    std::vector<int32_t> x(4, 1), y(4);
    sum.plan.count(4).input("x", x).bind("y", y);
    sum.plan.run(20);
    return !wrong.empty() ? wrong : y == std::vector<int32_t>(4, 2) ? refused : "wrong sum";
  };
  std::string refused = "the plan holds for multiples of 2 elements, not for 5; make another one\n";
  EXPECT_EQ(runRanks(2, body), "rank 0: " + refused + "rank 1: " + refused);
}

TEST(ApiPasses, chooseTuningParameters) {
  colldsl_options options = COLLDSL_OPTIONS_INIT;
  options.topology = "node:2 core:4";
  auto body = [](coll::Communicator &comm) -> std::string {
    std::vector<int32_t> data(kCount, comm.rank() == 0 ? 7 : 0);
    coll::Plan plan(comm, "bcast_tree");
    plan.type<int32_t>().count(kCount).bind("buf", data);
    plan.commit().run(20);
    std::string remarks = plan.info().remarks;
    if (data != std::vector<int32_t>(kCount, 7))
      return "wrong data";
    return remarks.find("; t = ") == remarks.npos ? "no tree: " + remarks : "";
  };
  EXPECT_EQ(runRanks(8, body, options), "");
}

TEST(ApiPasses, areThoseOfTheOptionsOrOfThePlan) {
  auto body = [](coll::Communicator &comm) -> std::string {
    std::vector<int32_t> x(kCount, 1), y(kCount);
    std::string passes;
    for (const char *own : {"", "fuse"}) {
      coll::Plan plan(comm, "allreduce_recursive_doubling");
      plan.type<int32_t>().count(kCount).input("x", x).bind("y", y);
      if (*own)
        plan.passes(own);
      plan.commit().run(20);
      if (y != std::vector<int32_t>(kCount, 4))
        return "wrong sum";
      passes += std::string(plan.info().passes) +
                (plan.info().proof == COLLDSL_PROOF_EXACT ? ", proved; " : "; ");
    }
    return passes == "segment; fuse, proved; " ? "" : passes;
  };
  colldsl_options options = COLLDSL_OPTIONS_INIT;
  options.passes = "segment";
  EXPECT_EQ(runRanks(4, body, options), "");
}

TEST(ApiPasses, mustBeThere) {
  colldsl_options options = COLLDSL_OPTIONS_INIT;
  options.passes = "hurry";
  colldsl_context *context = nullptr;
  EXPECT_EQ(colldsl_context_create(&options, &context), COLLDSL_ERROR_ARGUMENT);
  EXPECT_NE(std::string(colldsl_last_error()).find("passes: there is no pass 'hurry'"),
            std::string::npos)
      << colldsl_last_error();
}

TEST(ApiImages, describeArguments) {
  EXPECT_EQ(runRanks(2,
                     [](coll::Communicator &comm) -> std::string {
                       std::vector<int32_t> x(kCount, 1), y(kCount);
                       coll::Plan plan(comm, "reduce_binomial");
                       plan.count(kCount).set("root", 1).op(COLLDSL_MAX).input("x", x).bind("y", y);
                       plan.commit();
                       return plan.info().arguments;
                     }),
            "rank 0: op=max, root=1\nrank 1: op=max, root=1\n");
}

TEST(ApiImages, descriptionsHaveTheSizeOfTheCaller) {
  EXPECT_EQ(runRanks(1,
                     [](coll::Communicator &comm) -> std::string {
                       coll::Plan plan(comm, "barrier");
                       colldsl_plan_description info{};
                       info.size = sizeof info;
                       if (colldsl_plan_info(plan.get(), &info) != COLLDSL_ERROR_STATE)
                         return "described before it is committed";
                       plan.commit();
                       info.size = offsetof(colldsl_plan_description, reason);
                       if (colldsl_plan_info(plan.get(), &info) != COLLDSL_OK || info.reason)
                         return "wrote behind the size";
                       for (size_t size : {size_t{3}, sizeof info + 1}) {
                         info.size = size;
                         if (colldsl_plan_info(plan.get(), &info) != COLLDSL_ERROR_ARGUMENT)
                           return "took a wrong size";
                       }
                       return colldsl_plan_info(plan.get(), nullptr) == COLLDSL_ERROR_ARGUMENT
                                  ? ""
                                  : "took no description";
                     }),
            "");
}

} // namespace
} // namespace colldsl::test
