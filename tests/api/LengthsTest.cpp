// Plans that need a proof, of collectives whose blocks have lengths that are known at the call.
#include "tests/api/Launcher.h"

#include <gtest/gtest.h>
#include <numeric>

namespace colldsl::test {
namespace {

colldsl_options proving() {
  colldsl_options options = COLLDSL_OPTIONS_INIT;
  options.least_proof = COLLDSL_PROOF_EXACT;
  return options;
}

std::string told(const coll::Plan &plan) {
  colldsl_plan_description info = plan.info();
  return std::string(info.schedule) +
         (info.proof >= COLLDSL_PROOF_EXACT ? ", proved" : ", not proved");
}

/// Runs turn_twice on n elements; what is told of the plan, or what went wrong.
std::string turned(uint64_t n, const colldsl_options &options) {
  auto body = [n](coll::Communicator &comm) -> std::string {
    coll::Context context;
    coll::Library library(context, COLLDSL_LENGTHS);
    std::vector<int32_t> x(n), y(n, -1), u{1, 2, 3, 4}, v(4);
    std::iota(x.begin(), x.end(), 0);
    std::vector<uint64_t> four{4};
    coll::Plan plan(comm, library, "turn_twice");
    plan.type<int32_t>().count(n).input("x", x).bind("y", y).input("u", u).bind("v", v);
    plan.blocks("u", four).blocks("v", four).commit().run(20);
    return x != y || u != v ? "wrong data, " + told(plan) : told(plan);
  };
  return runRanks(2, body, options);
}

TEST(ApiLengths, anImageServesTheSizesThatWereProved) {
  EXPECT_NE(turned(100, proving()).find("image, proved"), std::string::npos);
  std::string odd = turned(101, proving());
  EXPECT_EQ(odd.find("wrong data"), std::string::npos) << odd;
  EXPECT_NE(odd.find("not proved"), std::string::npos) << odd;
}

/// Runs `around` with blocks of so many elements.
std::string wentAround(uint64_t length, const colldsl_options &options) {
  auto body = [length](coll::Communicator &comm) -> std::string {
    coll::Context context;
    coll::Library library(context, COLLDSL_LENGTHS ".around");
    std::vector<int32_t> x(6 * length + 1, 5), y(6 * length + 1);
    std::vector<uint64_t> lengths(6, length);
    coll::Plan plan(comm, library, "around");
    plan.type<int32_t>().input("x", x).bind("y", y);
    plan.blocks("x", lengths).blocks("y", lengths).commit();
    return told(plan);
  };
  return runRanks(2, body, options);
}

TEST(ApiLengths, aPlanIsProvedForAllLengthsOrRefused) {
  for (uint64_t length : {0, 1}) {
    std::string refused = wentAround(length, proving());
    EXPECT_NE(refused.find("wait for each other"), std::string::npos) << refused;
    EXPECT_NE(wentAround(length, COLLDSL_OPTIONS_INIT).find("program, not proved"),
              std::string::npos);
  }
}

/// A plan of the library for one rank, whose blocks have 3 elements.
std::string planned(const char *name, const colldsl_options &options) {
  auto body = [name](coll::Communicator &comm) -> std::string {
    coll::Context context;
    coll::Library library(context, COLLDSL_LENGTHS);
    std::vector<int32_t> x{1, 2, 3}, y(3);
    std::vector<uint64_t> three{3};
    coll::Plan plan(comm, library, name);
    plan.type<int32_t>().count(100).input("x", x).bind("y", y);
    plan.blocks("x", three).blocks("y", three).commit();
    return told(plan);
  };
  return runRanks(2, body, options);
}

TEST(ApiLengths, anImageThatWasProvedAtSomeIsNotProved) {
  EXPECT_NE(planned("same", proving()).find("image, proved"), std::string::npos);
  EXPECT_NE(planned("halves", COLLDSL_OPTIONS_INIT).find("image, not proved"), std::string::npos);
  std::string refused = planned("halves", proving());
  EXPECT_NE(refused.find("not all lengths of blocks can be proved"), std::string::npos) << refused;
}

TEST(ApiLengths, theStandardLibraryIsProvedAtTheCommit) {
  auto body = [](coll::Communicator &comm) -> std::string {
    uint32_t me = comm.rank();
    std::vector<uint64_t> send{me, 2}, receive{0, 1};
    if (me == 1)
      receive = {2, 2};
    std::vector<int32_t> x(4, static_cast<int32_t>(me)), y(4, -1);
    coll::Plan plan(comm, "alltoallv");
    plan.type<int32_t>().input("x", x).bind("y", y);
    plan.blocks("x", send).blocks("y", receive).commit().run(20);
    std::vector<int32_t> expected =
        me == 0 ? std::vector<int32_t>{1, -1, -1, -1} : std::vector<int32_t>{0, 0, 1, 1};
    return y == expected ? told(plan) : "wrong data";
  };
  EXPECT_NE(runRanks(2, body, proving()).find("program, proved"), std::string::npos);
}

} // namespace
} // namespace colldsl::test
