// Plans with an announced message over a network: its buffer stays where the first run had it.
#include "executor/Plan.h"

#include "tests/executor/Schedules.h"
#include "tests/protocol/ScriptedPair.h"

#include <gtest/gtest.h>

namespace colldsl {
namespace {

using protocol::test::ScriptedPair;
using test::after;
using test::afterStartOf;

constexpr uint64_t kElements = 4, kBytes = kElements * sizeof(int32_t);

Schedule announcedMessage() {
  test::Builder b(2);
  BufferId x = b.buffer(BufferRole::InOut, 1);
  OpId recv = b.recv(Rank{1}, Rank{0}, {b.block(x, 0)});
  b.signal(Rank{1}, Rank{0}, {afterStartOf(recv)});
  OpId wait = b.wait(Rank{0}, Rank{1});
  OpId send = b.send(Rank{0}, Rank{1}, {b.block(x, 0)}, {after(wait)});
  for (auto [rank, op] : {std::pair(0, send), std::pair(1, recv)})
    b.schedule.ranks[rank].ops[index(op)].transfer = {.protocol = Protocol::Static,
                                                      .announced = true};
  return b.schedule;
}

TEST(AnnouncedPlan, isBoundToOneBufferForGood) {
  ScriptedPair pair;
  test::LoadedImage image(announcedMessage());
  std::vector<int32_t> memory[2] = {std::vector<int32_t>(kElements, 5),
                                    std::vector<int32_t>(2 * kElements)};
  auto bindingAt = [&](uint32_t rank, size_t at) {
    return Binding{kElements, {{memory[rank].data() + at, kBytes}}, {}};
  };
  std::vector<std::unique_ptr<Engine>> engines;
  std::vector<std::unique_ptr<Plan>> plans;
  for (uint32_t r = 0; r < 2; ++r) {
    engines.push_back(std::make_unique<Engine>(pair.endpoint(r)));
    auto opened =
        Plan::open(*engines[r], image->rank(Rank{r}), image->sizeClass(), bindingAt(r, 0));
    ASSERT_TRUE(opened) << opened.message();
    plans.push_back(opened.take());
  }
  EXPECT_TRUE(plans[1]->bind(bindingAt(1, kElements))) << "before the first run";
  EXPECT_TRUE(plans[1]->transfers().isExecuted());
  for (int run = 0; run < 2; ++run) {
    pair.puts = 0;
    pair.frames.clear();
    std::fill(memory[1].begin(), memory[1].end(), 0);
    for (auto &plan : plans)
      ASSERT_TRUE(plan->start());
    pair.pump([&](uint32_t rank) { plans[rank]->progress(); });
    for (auto &plan : plans)
      EXPECT_FALSE(plan->running());
    EXPECT_EQ(memory[1], (std::vector<int32_t>{0, 0, 0, 0, 5, 5, 5, 5}));
    EXPECT_EQ(pair.puts, 1u);
    EXPECT_EQ(pair.frames[network::Kind::Rtr], run == 0 ? 1u : 0u);
    Status moved = plans[1]->bind(bindingAt(1, 0));
    EXPECT_EQ(
        moved.message(),
        "op 0 (recv from rank 0): an announced message from rank 0 has 16 bytes at an address "
        "that its sender knows, and now would have 16 bytes at another address; open another "
        "plan for other buffers");
    EXPECT_FALSE(plans[1]->shift(BufferId{0}, kBytes));
    EXPECT_TRUE(plans[1]->bind(bindingAt(1, kElements))) << "the same";
    EXPECT_TRUE(plans[0]->bind(bindingAt(0, 0)));
  }
}

} // namespace
} // namespace colldsl
