// The schedules of stdlib/circulant.coll, as the language evaluates them, are those of the
// recurrence, and these keep the conditions of the paper.
#include "compiler/Compile.h"
#include "instantiate/Instantiate.h"
#include "tests/stdlib/CirculantSchedules.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <random>
#include <unistd.h>

namespace colldsl::circulant {
namespace {

TEST(Circulant, AllPlacesKeepTheConditions) {
  for (uint32_t places = 2; places <= 2048; ++places)
    EXPECT_EQ(Schedules(places).firstMistake(), std::nullopt);
}

// 93 numbers of places below 400 are wrong without the bound, so the conditions can fail.
TEST(Circulant, WithoutTheBoundOnWays33IsTheFirstThatIsWrong) {
  std::vector<uint32_t> wrong;
  for (uint32_t places = 2; places < 400; ++places)
    if (Schedules(places, false).firstMistake())
      wrong.push_back(places);
  ASSERT_FALSE(wrong.empty());
  EXPECT_EQ(wrong.front(), 33u);
  EXPECT_EQ(wrong.size(), 93u);
  EXPECT_EQ(Schedules(33, false).firstMistake(),
            "place 31 of 33 sends a block that it does not have in round 2");
}

TEST(Circulant, SomePlacesOfManyNumbersKeepTheConditions) {
  std::mt19937 random(1);
  for (uint32_t i = 0; i < 100'000; ++i) {
    uint32_t places = 2 + random() % ((1u << 20) - 1);
    EXPECT_EQ(Schedules(places).mistake(random() % places), std::nullopt);
  }
}

/// The receive schedules as the language evaluates them: the times of `calc`, plus an offset.
class Evaluated {
public:
  Evaluated() {
    std::string path =
        testing::TempDir() + "/colldsl-circulant-" + std::to_string(getpid()) + ".coll";
    std::ofstream(path) << R"(collective probe() {
  let receives = circulant_receives(rank, ranks);
  for k in 0..ceil_log2(ranks) { calc (receives[k] + 100) * 1ns; }
})";
    compilation_ = compileFiles({path});
    std::filesystem::remove(path);
    for (const Diagnostic &d : compilation_.diagnostics())
      ADD_FAILURE() << compilation_.render(d);
  }

  void compare(uint32_t places, const std::vector<uint32_t> &chosen) const {
    InstantiateRequest request;
    request.collective = compilation_.program().find("probe", DeclKind::Collective);
    request.ranks = places;
    Instantiator instantiator(compilation_.program(), request);
    Schedules schedules(places);
    Dag dag;
    for (uint32_t place : chosen) {
      Status made = instantiator.instantiate(Rank{place}, dag);
      ASSERT_TRUE(made) << made.message();
      ASSERT_EQ(dag.size(), schedules.rounds());
      Schedule wanted = schedules.receives(place);
      for (uint32_t k = 0; k < schedules.rounds(); ++k)
        EXPECT_EQ(static_cast<int64_t>(dag.ops[k].amount) - 100, wanted.blocks[k])
            << "place " << place << " of " << places << ", round " << k;
    }
  }

private:
  Compilation compilation_;
};

TEST(Circulant, TheLanguageEvaluatesTheSchedules) {
  Evaluated evaluated;
  for (uint32_t places = 2; places <= 256; ++places) {
    std::vector<uint32_t> all(places);
    for (uint32_t place = 0; place < places; ++place)
      all[place] = place;
    evaluated.compare(places, all);
  }
}

TEST(Circulant, TheLanguageEvaluatesTheSchedulesOfManyPlaces) {
  Evaluated evaluated;
  std::mt19937 random(2);
  for (uint32_t i = 0; i < 400; ++i) {
    uint32_t places = 2 + random() % ((1u << 20) - 1);
    evaluated.compare(places, {static_cast<uint32_t>(random() % places), 0, 1, places - 1});
  }
}

} // namespace
} // namespace colldsl::circulant
