/// A schedule of one rank, and what a plan of it needs.
#pragma once

#include "executor/Engine.h"
#include "protocol/fake/FakeWorld.h"
#include "tests/executor/Schedules.h"

#include <gtest/gtest.h>
#include <optional>

namespace colldsl::test {

class OneRank : public testing::Test {
protected:
  static constexpr Rank kMe{0};
  Builder builder_{1};
  fake::World world_{1};
  std::unique_ptr<Endpoint> endpoint_ = world_.attach(kMe);
  Engine engine_{*endpoint_};
  std::optional<LoadedImage> image_;
};

} // namespace colldsl::test
