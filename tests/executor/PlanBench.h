/// A plan on the endpoint of a rank, and data that tells rank, run and place.
#pragma once

#include "executor/Plan.h"
#include "tests/executor/Schedules.h"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace colldsl::test {

using Ints = std::vector<int32_t>;
inline constexpr std::chrono::seconds kLong{30};

inline BoundBuffer bound(Ints &values) { return {values.data(), values.size() * sizeof(int32_t)}; }

inline int32_t valueOf(uint32_t rank, int run, size_t i) {
  return static_cast<int32_t>(rank * 1000000 + static_cast<uint32_t>(run) * 1000 + i);
}
inline Ints valuesOf(Rank rank, int run, size_t n) {
  Ints values(n);
  for (size_t i = 0; i < n; ++i)
    values[i] = valueOf(index(rank), run, i);
  return values;
}

/// In place, because plans are bound to the memory.
inline void fill(Ints &values, Rank rank, int run) {
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = valueOf(index(rank), run, i);
}

/// A plan with what it needs.
struct Bench {
  Bench(Endpoint &endpoint, const Schedule &schedule, const Binding &binding)
      : image(schedule), engine(endpoint) {
    auto opened = Plan::open(engine, image->rank(endpoint.rank()), image->sizeClass(), binding);
    status = opened ? Status() : opened.status();
    if (opened)
      plan = opened.take();
  }
  std::string runOnce() {
    if (Status s = plan->start(); !s)
      return "start: " + s.message();
    Status s = plan->wait(kLong);
    return s ? "" : "wait: " + s.message();
  }

  LoadedImage image;
  Engine engine;
  std::unique_ptr<Plan> plan;
  Status status;
};

} // namespace colldsl::test
