// The conditions of circulant schedules, for as many numbers of places as minutes allow.
#include "tests/stdlib/CirculantSchedules.h"

#include <gtest/gtest.h>
#include <random>

namespace colldsl::circulant {
namespace {

TEST(CirculantAll, AllPlacesKeepTheConditionsUpTo16384) {
  for (uint32_t places = 2; places <= 1u << 14; ++places)
    EXPECT_EQ(Schedules(places).firstMistake(), std::nullopt);
}

// Powers of two and their neighbours, at all places.
TEST(CirculantAll, AllPlacesKeepTheConditionsAtPowersOfTwo) {
  for (uint32_t power = 1u << 15; power <= 1u << 20; power *= 2)
    for (uint32_t places = power - 1; places <= power + 1 && places <= 1u << 20; ++places)
      EXPECT_EQ(Schedules(places).firstMistake(), std::nullopt);
}

TEST(CirculantAll, EightPlacesOfEachNumberUpToAMillionKeepTheConditions) {
  std::mt19937 random(3);
  for (uint32_t places = 2; places <= 1u << 20; ++places) {
    Schedules schedules(places);
    for (uint32_t place : {0u, 1u, places / 2, places - 1})
      EXPECT_EQ(schedules.mistake(place), std::nullopt);
    for (uint32_t i = 0; i < 4; ++i)
      EXPECT_EQ(schedules.mistake(random() % places), std::nullopt);
  }
}

} // namespace
} // namespace colldsl::circulant
