// Ranks that talk over datagrams.
#include "tests/transports/LossyCalls.h"
#include "tests/transports/NetworkChecks.h"
#include "transports/datagram/DatagramTransport.h"

#include <atomic>
#include <gtest/gtest.h>
#include <thread>

namespace colldsl::test {
namespace {

using namespace std::chrono_literals;

// Rank 0 sends, and looks no more; the only packet gets lost.
TEST(DatagramEndpoint, acknowledgementsOfABusyRankComeToo) {
  LossyCalls calls({});
  std::atomic<bool> wasLost = false; // by the keepalive's thread, too
  calls.loses = [&](const mmsghdr &message) {
    datagram::PacketHeader header;
    std::memcpy(&header, message.msg_hdr.msg_iov[0].iov_base, sizeof header);
    return header.kind == datagram::PacketKind::Data && !wasLost.exchange(true);
  };
  NetworkPair pair([&](Rank r) {
    return protocol::NetworkEndpoint::make(r, 2, datagram::Options(),
                                           datagram::open(r, datagram::Options(), calls));
  });
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

// One message is on the way, and its receiver polls seldom: all take much longer than a leaving
// rank waits for one.
TEST(DatagramEndpoint, aLeavingRankWaitsWhileItsMessagesAreTaken) {
  constexpr uint32_t kMessages = 30;
  datagram::Options options;
  options.linger = 100ms;
  options.flightBytes = 1;
  NetworkPair pair([&](Rank r) {
    return protocol::NetworkEndpoint::make(r, 2, options, datagram::open(r, options));
  });
  ASSERT_EQ(pair.trouble, "");
  std::vector<MessageId> messages;
  for (uint32_t m = 0; m < kMessages; ++m)
    messages.push_back(makeMessageId(3, m));
  std::vector<EdgeSpec> there{{Rank{1}, messages}}, here{{Rank{0}, messages}};
  auto sender = pair.endpoints[0]->open({there, {}}),
       receiver = pair.endpoints[1]->open({{}, here});
  ASSERT_TRUE(sender.ok() && receiver.ok());
  uint64_t sent = 42;
  iovec from = {&sent, sizeof sent};
  std::array<uint64_t, kMessages> received = {};
  std::array<iovec, kMessages> to;
  (*sender)->start();
  (*receiver)->start();
  for (uint32_t m = 0; m < kMessages; ++m) {
    to[m] = {&received[m], sizeof sent};
    (void)(*receiver)->recv({0, m}, OpId{m}, {&to[m], 1, true, false, sizeof sent});
    ASSERT_EQ((*sender)->send({0, m}, OpId{m}, {&from, 1, true, false, sizeof sent}), Posted::Done);
  }
  std::thread leaving([&] {
    sender->reset();
    pair.endpoints[0].reset();
  });
  size_t arrived = 0;
  for (int look = 0; look < 500 && arrived < kMessages && (*receiver)->check(); ++look) {
    arrived += (*receiver)->poll().size();
    std::this_thread::sleep_for(20ms);
  }
  EXPECT_EQ(arrived, kMessages);
  receiver->reset();
  pair.endpoints[1].reset();
  leaving.join();
}

TEST(DatagramEndpoint, aKilledRankIsNoticedByAll) {
  expectThatKilledRanksAreNoticed([](shm::World &world, Rank r) {
    return protocol::attach(world, r, datagram::Options(), datagram::open(r, datagram::Options()));
  });
}

TEST(DatagramEndpoint, memoryFollowsEdgesNotRanks) {
  datagram::Options options;
  options.linger = 0ns;
  expectThatMemoryFollowsEdges([&](Rank r, uint32_t numRanks) {
    return protocol::NetworkEndpoint::make(r, numRanks, options, datagram::open(r, options));
  });
}

} // namespace
} // namespace colldsl::test
