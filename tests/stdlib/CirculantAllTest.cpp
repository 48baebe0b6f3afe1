// The conditions of circulant schedules, for as many numbers of places as minutes allow.
#include "tests/stdlib/CirculantSchedules.h"

#include <gtest/gtest.h>
#include <random>

namespace colldsl::circulant {
namespace {

TEST(CirculantAll, AllPlacesKeepTheConditionsUpTo8192) {
  for (uint32_t places = 2; places <= 1u << 13; ++places)
    EXPECT_EQ(Schedules(places).firstMistake(), std::nullopt);
}

// Powers of two and their neighbours, at all places.
TEST(CirculantAll, AllPlacesKeepTheConditionsAtPowersOfTwo) {
  for (uint32_t power = 1u << 15; power <= 1u << 20; power *= 2)
    for (uint32_t places = power - 1; places <= power + 1 && places <= 1u << 20; ++places)
      EXPECT_EQ(Schedules(places).firstMistake(), std::nullopt);
}

TEST(CirculantAll, TwoPlacesOfEachNumberUpToAMillionKeepTheConditions) {
  std::mt19937 random(3);
  for (uint32_t places = 2; places <= 1u << 20; ++places) {
    Schedules schedules(places);
    EXPECT_EQ(schedules.mistake(places - 1), std::nullopt);
    EXPECT_EQ(schedules.mistake(random() % places), std::nullopt);
  }
}

} // namespace
} // namespace colldsl::circulant
