// Ranks that talk over datagrams.
#include "tests/transports/LossyCalls.h"
#include "tests/transports/NetworkPair.h"
#include "transports/datagram/DatagramCarrier.h"

#include <csignal>
#include <gtest/gtest.h>
#include <malloc.h>
#include <thread>

namespace colldsl::test {
namespace {

using namespace std::chrono_literals;

// Rank 0 sends, and looks no more; the only packet gets lost.
TEST(DatagramEndpoint, whatABusyRankOwesComesToo) {
  LossyCalls calls({});
  bool wasLost = false;
  calls.loses = [&](const mmsghdr &message) {
    datagram::PacketHeader header;
    std::memcpy(&header, message.msg_hdr.msg_iov[0].iov_base, sizeof header);
    return header.kind == datagram::PacketKind::Data && !std::exchange(wasLost, true);
  };
  NetworkPair pair([&](Rank r) { return datagram::makeEndpoint(r, 2, {}, calls); });
  ASSERT_EQ(pair.trouble, "");
  std::vector<EdgeSpec> there{{Rank{1}, {makeMessageId(3, 0)}}}, here{{Rank{0}, there[0].messages}};
  auto sender = pair.endpoints[0]->open({there, {}}),
       receiver = pair.endpoints[1]->open({{}, here});
  ASSERT_TRUE(sender.ok() && receiver.ok());
  uint64_t sent = 42, received = 0;
  iovec from = {&sent, sizeof sent}, to = {&received, sizeof received};
  (*sender)->start();
  (*receiver)->start();
  ASSERT_EQ((*receiver)->recv({0, 0}, OpId{0}, {&to, 1, true, false, sizeof received}),
            Posted::Pending);
  ASSERT_EQ((*sender)->send({0, 0}, OpId{0}, {&from, 1, true, false, sizeof sent}), Posted::Done);
  std::vector<Completion> done;
  EXPECT_TRUE(pollUntil(**receiver, done, [&] { return done.size() == 1; }));
  EXPECT_EQ(received, 42u);
  EXPECT_TRUE(wasLost);
}

TEST(DatagramEndpoint, aKilledRankIsNoticedByAll) {
  LocalOptions local;
  local.numRanks = 3;
  local.timeout = 30s;
  local.attach = [](shm::World &world, Rank r) { return datagram::attach(world, r, {}); };
  auto outcomes = runLocalRanks(local, [](Endpoint &endpoint) -> Result<std::vector<std::byte>> {
    // Rank 0 waits for rank 1, which waits for rank 2.
    Rank above{index(endpoint.rank()) + 1};
    std::vector<EdgeSpec> in, out;
    if (above != Rank{3})
      in.push_back({above, {makeMessageId(3, 0)}});
    if (endpoint.rank() != Rank{0})
      out.push_back({Rank{index(endpoint.rank()) - 1}, {makeMessageId(3, 0)}});
    auto channels = endpoint.open({out, in});
    if (!channels)
      return channels.status();
    if (endpoint.rank() == Rank{2}) {
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
    if (!(*channels)->failed() || fault.reason != "rank 2 died" || fault.peer != Rank{2})
      return Status::error("fault: '" + fault.reason + "'");
    return std::vector<std::byte>();
  });
  ASSERT_TRUE(outcomes.ok()) << outcomes.message();
  EXPECT_EQ((*outcomes)[2].signal, SIGKILL);
  for (uint32_t r = 0; r < 2; ++r)
    EXPECT_TRUE((*outcomes)[r].status.ok()) << r << ": " << (*outcomes)[r].status.message();
}

struct Need {
  size_t peers = 0;
  uint64_t frames = 0;
  int64_t heap = 0;
};

// Of a rank with 8 edges. One endpoint stands for all others.
Need needAmong(uint32_t numRanks) {
  datagram::Options options;
  options.linger = 0ns;
  auto self = datagram::makeEndpoint(Rank{0}, numRanks, options);
  auto peer = datagram::makeEndpoint(Rank{1}, numRanks, options);
  if (!self || !peer)
    return {};
  network::Card card = (*peer)->card();
  auto before = static_cast<int64_t>(mallinfo2().uordblks);
  if (!(*self)->meet([card](Rank) -> Result<network::Card> { return card; }))
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

TEST(DatagramEndpoint, memoryFollowsEdgesNotRanks) {
  needAmong(16); // what is made once
  Need few = needAmong(16), many = needAmong(4096);
  EXPECT_EQ(few.peers, 8u);
  EXPECT_EQ(many.peers, 8u);
  EXPECT_GT(few.frames, 0u);
  EXPECT_EQ(few.frames, many.frames);
  EXPECT_LT(many.heap - few.heap, 4096) << "more than a byte for each rank";
}

} // namespace
} // namespace colldsl::test
