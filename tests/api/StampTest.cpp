// How far plans are proved, by the stamps of libraries, and what `least_proof` refuses.
#include "tests/api/Launcher.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <optional>

namespace colldsl::test {
namespace {

constexpr uint64_t kCount = 8;

std::string told(const coll::Plan &plan) {
  colldsl_plan_description info = plan.info();
  return std::string(info.collective) + ": " + std::to_string(info.proof) + ", " + info.proved_for +
         ", " + std::to_string(info.proved_ranks);
}

colldsl_options least(colldsl_proof proof, const char *passes = nullptr) {
  colldsl_options options = COLLDSL_OPTIONS_INIT;
  options.least_proof = proof;
  options.passes = passes;
  return options;
}

/// Commits and runs a collective of `x` and `y`; what is told of it, or why it is refused. `file`:
/// its library; null: the standard library.
std::string run(const char *name, const char *file, const colldsl_options &options,
                uint32_t ranks = 3) {
  auto body = [&](coll::Communicator &comm) -> std::string {
    coll::Context context;
    bool gathers = std::string_view(name).starts_with("allgather");
    std::vector<int32_t> x(kCount, 1), y(gathers ? kCount * comm.size() : kCount);
    std::optional<coll::Library> library;
    if (file)
      library.emplace(context, file);
    coll::Plan plan = library ? coll::Plan(comm, *library, name) : coll::Plan(comm, name);
    plan.type<int32_t>().count(kCount).input("x", x).bind("y", y);
    if (colldsl_plan_commit(plan.get()) != COLLDSL_OK)
      return comm.rank() == 0 ? colldsl_last_error() : "";
    plan.run(20);
    return comm.rank() == 0 ? told(plan) : "";
  };
  std::string text = runRanks(ranks, body, options);
  return text.starts_with("rank 0: ") ? text.substr(8, text.size() - 9) : text;
}

TEST(ApiStamps, areThoseOfTheStandardLibrary) {
  colldsl_options any = COLLDSL_OPTIONS_INIT;
  EXPECT_EQ(run("allgather_ring", nullptr, any), "allgather_ring: 3, all P, 4294967295");
  EXPECT_EQ(run("allreduce_ring", nullptr, any),
            "allreduce_ring: 3, all P, but for 'deterministic', 4294967295");
  EXPECT_EQ(run("allgather_distance_ring", nullptr, any),
            "allgather_distance_ring: 1, 1 to 64 ranks, at the values tried, 64");
}

TEST(ApiStamps, mayBeRequired) {
  colldsl_options all = least(COLLDSL_PROOF_ALL_RANKS);
  EXPECT_EQ(run("allgather_ring", nullptr, all), "allgather_ring: 3, all P, 4294967295");
  EXPECT_EQ(
      run("allgather_distance_ring", nullptr, all),
      "'allgather_distance_ring' is proved for 1 to 64 ranks, at the values tried, but must be "
      "proved for all P");
  // The rules of the function pass over those that are proved for some ranks alone.
  std::string chosen = run("allgather", nullptr, all);
  EXPECT_NE(chosen.find(": 3, all P, "), std::string::npos) << chosen;
  // Passes make another schedule, which is proved for these ranks.
  EXPECT_EQ(run("allgather_ring", nullptr, least(COLLDSL_PROOF_ALL_RANKS, "fuse")),
            "'allgather_ring' is proved for these 3 ranks, but must be proved for all P");
  EXPECT_EQ(run("allgather_distance_ring", nullptr, least(COLLDSL_PROOF_EXACT)),
            "allgather_distance_ring: 2, these 3 ranks, 3");
}

TEST(ApiStamps, areThoseOfALibrary) {
  colldsl_options any = COLLDSL_OPTIONS_INIT, all = least(COLLDSL_PROOF_ALL_RANKS);
  EXPECT_EQ(run("near", COLLDSL_STAMPS, any), "near: 3, all P, 4294967295");
  EXPECT_EQ(run("far", COLLDSL_STAMPS, any), "far: 0, , 0");
  EXPECT_EQ(run("passing", COLLDSL_STAMPS, any), "far: 0, , 0");
  EXPECT_EQ(run("passing", COLLDSL_STAMPS, all), "near: 3, all P, 4294967295");
  EXPECT_EQ(run("far", COLLDSL_STAMPS, all), "'far' is not proved, but must be proved for all P");
  EXPECT_EQ(run("near", COLLDSL_STAMPS ".bare", all),
            "'near' is not proved, but must be proved for all P")
      << "compiled without --all-ranks";
}

// `far` has an image for three ranks.
TEST(ApiStamps, imagesForFewerRanksCountForMore) {
  const char *images = COLLDSL_STAMPS ".images";
  colldsl_options smaller = least(COLLDSL_PROOF_SMALLER_RANKS);
  EXPECT_EQ(run("far", images, smaller), "far: 2, these 3 ranks, 3");
  EXPECT_EQ(run("far", images, smaller, 4), "far: 1, 3 ranks only, 3");
  EXPECT_EQ(run("far", images, smaller, 2),
            "'far' is not proved, but must be proved for fewer ranks, or at some values, only");
}

TEST(ApiStamps, mayBeRequiredByTheEnvironment) {
  setenv("COLLDSL_PROOF", "all-ranks", 1);
  EXPECT_EQ(run("far", COLLDSL_STAMPS, COLLDSL_OPTIONS_INIT),
            "'far' is not proved, but must be proved for all P");
  EXPECT_EQ(run("far", COLLDSL_STAMPS, least(COLLDSL_PROOF_EXACT)), "far: 2, these 3 ranks, 3")
      << "the options come first";
  setenv("COLLDSL_PROOF", "require", 1);
  EXPECT_EQ(run("far", COLLDSL_STAMPS, COLLDSL_OPTIONS_INIT), "far: 2, these 3 ranks, 3");
  setenv("COLLDSL_PROOF", "maybe", 1);
  colldsl_context *context = nullptr;
  EXPECT_EQ(colldsl_context_create(nullptr, &context), COLLDSL_ERROR_ARGUMENT);
  EXPECT_STREQ(colldsl_last_error(),
               "COLLDSL_PROOF is none of report, require and all-ranks: 'maybe'");
  unsetenv("COLLDSL_PROOF");
}

} // namespace
} // namespace colldsl::test
