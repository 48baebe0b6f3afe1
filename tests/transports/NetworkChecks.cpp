#include "tests/transports/NetworkChecks.h"

#include <csignal>
#include <gtest/gtest.h>
#include <malloc.h>
#include <thread>

namespace colldsl::test {
namespace {

using namespace std::chrono_literals;

using MakeAmong = std::function<Result<std::unique_ptr<protocol::NetworkEndpoint>>(Rank, uint32_t)>;

// Rank 1 waits for rank 0, which waits for rank 3, which dies; rank 2 waits for rank 1.
Result<std::vector<std::byte>> waitForTheDead(Endpoint &endpoint) {
  const Rank waitsFor[] = {Rank{3}, Rank{0}, Rank{1}, kNoRank};
  const std::vector<Rank> tells[] = {{Rank{1}}, {Rank{2}}, {}, {Rank{0}}};
  std::vector<EdgeSpec> in, out;
  Rank from = waitsFor[index(endpoint.rank())];
  if (from != kNoRank)
    in.push_back({from, {makeMessageId(3, 0)}});
  for (Rank to : tells[index(endpoint.rank())])
    out.push_back({to, {makeMessageId(3, 0)}});
  auto channels = endpoint.open({out, in});
  if (!channels)
    return channels.status();
  if (endpoint.rank() == Rank{3}) {
    std::this_thread::sleep_for(200ms);
    raise(SIGKILL);
  }
  (*channels)->start();
  Payload signal;
  signal.always = true;
  (*channels)->recv({0, 0}, OpId{7}, signal);
  std::vector<Completion> done;
  pollUntil(**channels, done, [] { return false; });
  const Fault &fault = (*channels)->fault();
  if (!(*channels)->failed() || fault.reason != "rank 3 died" || fault.peer != Rank{3} ||
      (*channels)->openOp(kNoRank) != OpId{7})
    return Status::error("fault: '" + fault.reason + "'");
  return std::vector<std::byte>();
}

struct Need {
  size_t peers = 0;
  uint64_t frames = 0;
  int64_t heap = 0;
};

// One endpoint stands for all others.
Need needAmong(uint32_t numRanks, const MakeAmong &make) {
  auto self = make(Rank{0}, numRanks);
  auto peer = make(Rank{1}, numRanks);
  if (!self || !peer)
    return {};
  network::RankAddress rankAddress = (*peer)->rankAddress();
  auto before = static_cast<int64_t>(mallinfo2().uordblks);
  if (!(*self)->start([rankAddress](Rank) -> Result<network::RankAddress> { return rankAddress; }))
    return {};
  std::vector<EdgeSpec> edges;
  for (uint32_t i = 1; i <= 8; ++i)
    edges.push_back({Rank{numRanks / 8 * i - 1}, {makeMessageId(3, 0), makeMessageId(3, 1)}});
  auto channels = (*self)->open({edges, edges});
  if (!channels)
    return {};
  (*channels)->start();
  (*channels)->poll();
  (*channels)->check();
  return {(*self)->numPeers(), (*self)->frameBytes(),
          static_cast<int64_t>(mallinfo2().uordblks) - before};
}

} // namespace

void expectThatKilledRanksAreNoticed(const Attach &attach) {
  LocalOptions local;
  local.numRanks = 4;
  local.timeout = 60s;
  local.attach = attach;
  auto outcomes = runLocalRanks(local, waitForTheDead);
  ASSERT_TRUE(outcomes.ok()) << outcomes.message();
  EXPECT_EQ((*outcomes)[3].signal, SIGKILL);
  for (uint32_t r = 0; r < 3; ++r)
    EXPECT_TRUE((*outcomes)[r].status.ok()) << r << ": " << (*outcomes)[r].status.message();
}

void expectThatMemoryFollowsEdges(const MakeAmong &make) {
  needAmong(16, make); // what is made once
  Need few = needAmong(16, make), many = needAmong(4096, make);
  EXPECT_EQ(few.peers, 8u);
  EXPECT_EQ(many.peers, 8u);
  EXPECT_GT(few.frames, 0u);
  EXPECT_EQ(few.frames, many.frames);
  EXPECT_LT(many.heap - few.heap, 4096) << "more than a byte for each rank";
}

} // namespace colldsl::test
