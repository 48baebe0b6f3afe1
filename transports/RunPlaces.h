/// Places of single runs in the tables where a rank keeps facts about them, such as a failure: each
/// run has a place, and a newer run takes it from an older one.
#pragma once

#include "transports/Tag.h"

namespace colldsl {

inline constexpr uint32_t kRunPlaces = 1024;

constexpr uint32_t placeOf(StreamId stream) {
  return static_cast<uint32_t>(stream * 0x9e3779b97f4a7c15u >> 32) % kRunPlaces;
}
/// Consecutive runs of a stream have consecutive places.
constexpr uint32_t placeOf(StreamId stream, uint32_t run) {
  return (placeOf(stream) + run) % kRunPlaces;
}

} // namespace colldsl
