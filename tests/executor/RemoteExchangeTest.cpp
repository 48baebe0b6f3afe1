// Exchanges with ranks of other machines: whether memory stays registered between runs.
#include "executor/RemoteExchange.h"

#include "tests/protocol/ScriptedPair.h"

#include <gtest/gtest.h>

namespace colldsl {
namespace {

using protocol::RankGroup;
using protocol::test::ScriptedPair;

TEST(RemoteExchange, memoryThatIsKeptStaysRegistered) {
  for (bool keepsMemory : {false, true}) {
    ScriptedPair pair(0, 8, true);
    std::array<std::byte, 16> sent[2], got[2];
    std::vector<std::unique_ptr<RemoteExchange>> exchanges;
    for (uint32_t r = 0; r < 2; ++r) {
      iovec out{sent[r].data(), sent[r].size()}, in{got[r].data(), got[r].size()};
      exchanges.push_back(std::make_unique<RemoteExchange>(
          pair.worker(r), RankGroup::ofAll(2, Rank{r}), 0, keepsMemory));
      exchanges[r]->send(Rank{1 - r}, {&out, 1});
      exchanges[r]->recv(Rank{1 - r}, {&in, 1});
      ASSERT_TRUE(exchanges[r]->open());
    }
    for (uint32_t number = 1; number < 4; ++number) {
      for (uint32_t r = 0; r < 2; ++r) {
        sent[r].fill(static_cast<std::byte>(16 * number + r));
        exchanges[r]->start(number);
      }
      pair.pump([&](uint32_t rank) { exchanges[rank]->progress(); });
      for (uint32_t r = 0; r < 2; ++r) {
        EXPECT_TRUE(exchanges[r]->isDone());
        EXPECT_TRUE(exchanges[r]->finish());
        EXPECT_EQ(got[r], sent[1 - r]);
        EXPECT_EQ(pair.numRegistered(r), keepsMemory ? 2u : 0u) << "run " << number;
      }
    }
    exchanges.clear();
    for (uint32_t r = 0; r < 2; ++r)
      EXPECT_EQ(pair.numRegistered(r), 0u);
  }
}

} // namespace
} // namespace colldsl
