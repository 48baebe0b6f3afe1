// The memory of a plan's buffers: of the type and length that the collective gives them.
#include "tests/api/Launcher.h"

#include <gtest/gtest.h>

namespace colldsl::test {
namespace {

constexpr int kHeight = 30, kWidth = 40;

/// A tile of pass_column (Inputs/tile.coll) with the memory that it needs as doubles.
struct Tile {
  Tile(coll::Communicator &comm, coll::Library &library)
      : before((comm.rank() + comm.size() - 1) % comm.size()),
        a(kHeight * (kWidth + 1), comm.rank() + 1), weights(kHeight, 10.0 * comm.rank()),
        theirs(kHeight), plan(comm, library, "pass_column") {
    plan.set("h", kHeight).set("w", kWidth);
  }

  /// "": the first column and the weights are those of the rank before.
  std::string check() const {
    for (int i = 0; i < kHeight; ++i)
      if (a[static_cast<size_t>(i) * (kWidth + 1)] != before + 1 ||
          theirs[static_cast<size_t>(i)] != 10.0 * before)
        return "row " + std::to_string(i) + " is wrong";
    return "";
  }

  uint32_t before;
  std::vector<double> a, weights, theirs;
  coll::Plan plan;
};

/// What all ranks say of a plan that `describe` is about to commit, if they say the same.
std::string committed(const std::function<void(Tile &)> &describe) {
  return runRanks(2, [&](coll::Communicator &comm) -> std::string {
    coll::Context context;
    coll::Library library(context, COLLDSL_TILE);
    Tile tile(comm, library);
    describe(tile);
    tile.plan.commit().run(20);
    return tile.check();
  });
}

colldsl_status bindTo(Tile &tile, const char *buffer, std::vector<double> &memory,
                      size_t elements) {
  return colldsl_plan_bind(tile.plan.get(), buffer, memory.data(), elements * sizeof(double));
}

void bindAll(Tile &tile) {
  coll::check(bindTo(tile, "a", tile.a, tile.a.size()));
  coll::check(bindTo(tile, "weights", tile.weights, kHeight));
  coll::check(bindTo(tile, "theirs", tile.theirs, kHeight));
}

TEST(ApiMemory, whatFitsRuns) {
  EXPECT_EQ(committed([](Tile &tile) {
              coll::check(colldsl_plan_set_type(tile.plan.get(), COLLDSL_F64));
              bindAll(tile);
            }),
            "");
}

// Floats and ints have the same length: the type is needed, not guessed.
TEST(ApiMemory, aForgottenTypeIsAnError) {
  std::string why = committed(bindAll);
  EXPECT_NE(why.find("the type of elements is not set: 'a' of 'pass_column' has elements of T"),
            std::string::npos)
      << why;
}

TEST(ApiMemory, aTypeOfAnotherLengthIsAnError) {
  for (auto [type, bytes, word] : {std::tuple{COLLDSL_F32, 4920, "f32"},
                                   {COLLDSL_U16, 2460, "u16"},
                                   {COLLDSL_I8, 1230, "i8"}}) {
    std::string why = committed([type = type](Tile &tile) {
      coll::check(colldsl_plan_set_type(tile.plan.get(), type));
      bindAll(tile);
    });
    std::string wanted = "'a' needs " + std::to_string(bytes) +
                         " bytes, 9840 were bound: it has 1230 elements of " + word;
    EXPECT_NE(why.find(wanted), std::string::npos) << why;
  }
}

// Elements of T, of a type of their own, that are read, that are written.
TEST(ApiMemory, eachBufferHasOneLength) {
  struct Buffer {
    const char *name;
    std::vector<double> Tile::*memory;
    size_t elements;
  };
  for (Buffer buffer : {Buffer{"a", &Tile::a, size_t{kHeight} * (kWidth + 1)},
                        {"weights", &Tile::weights, kHeight},
                        {"theirs", &Tile::theirs, kHeight}})
    for (int more : {-1, 1}) {
      size_t given = buffer.elements + static_cast<size_t>(more);
      std::string why = committed([&](Tile &tile) {
        coll::check(colldsl_plan_set_type(tile.plan.get(), COLLDSL_F64));
        (tile.*buffer.memory).resize(given);
        bindAll(tile);
        coll::check(bindTo(tile, buffer.name, tile.*buffer.memory, given));
      });
      std::string wanted = std::string("'") + buffer.name + "' needs " +
                           std::to_string(buffer.elements * sizeof(double)) + " bytes, " +
                           std::to_string(given * sizeof(double)) + " were bound";
      EXPECT_NE(why.find(wanted), std::string::npos) << why;
    }
}

TEST(ApiMemory, anotherNumberOfElementsNeedsOtherMemory) {
  EXPECT_EQ(runRanks(2,
                     [](coll::Communicator &comm) -> std::string {
                       std::vector<int32_t> buffer(40, comm.rank() == 0 ? 7 : 0);
                       coll::Plan plan(comm, "bcast_binomial");
                       plan.count(40).bind("buf", buffer).commit().run(20);
                       plan.count(10);
                       if (colldsl_plan_start(plan.get()) != COLLDSL_ERROR_PLAN)
                         return "it was started";
                       std::string why = colldsl_last_error();
                       if (why != "'buf' needs 40 bytes, 160 were bound: it has 10 elements of i32")
                         return why;
                       plan.bind("buf", std::span(buffer).first(10)).run(20);
                       return buffer == std::vector<int32_t>(40, 7) ? "" : "wrong";
                     }),
            "");
}

TEST(ApiMemory, withoutBuffersOfTNoTypeIsNeeded) {
  EXPECT_EQ(runRanks(2,
                     [](coll::Communicator &comm) -> std::string {
                       coll::Plan plan(comm, "barrier");
                       plan.commit().run(20);
                       return "";
                     }),
            "");
}

} // namespace
} // namespace colldsl::test
