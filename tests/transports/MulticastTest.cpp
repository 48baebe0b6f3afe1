// Broadcasts by IP multicast, in every weather, and what becomes of them where there is none.
#include "tests/transports/Broadcasts.h"
#include "tests/transports/Harness.h"

#include <arpa/inet.h>
#include <csignal>
#include <cstring>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

namespace colldsl::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using datagram::MulticastCounts;

datagram::Options ethernet(Rank) {
  datagram::Options options;
  options.packetBytes = 1472;
  options.linger = options.lingerAfterFailure = 1s;
  return options;
}

bool isMulticast(const sockaddr_in &name) { return IN_MULTICAST(ntohl(name.sin_addr.s_addr)); }

/// Whether what goes there goes to many.
bool goesToMany(const mmsghdr &message) {
  sockaddr_in to;
  std::memcpy(&to, message.msg_hdr.msg_name, sizeof to);
  return isMulticast(to);
}

datagram::PacketHeader headerOf(const mmsghdr &message) {
  datagram::PacketHeader header;
  std::memcpy(&header, message.msg_hdr.msg_iov[0].iov_base, sizeof header);
  return header;
}

/// Whether what goes to many comes here.
bool hearsMany(int fd) {
  sockaddr_in name = {};
  socklen_t bytes = sizeof name;
  return getsockname(fd, reinterpret_cast<sockaddr *>(&name), &bytes) == 0 && isMulticast(name);
}

TEST(Multicast, aBroadcastIsSentOnce) {
  Broadcasts ranks(5, ethernet);
  ASSERT_EQ(ranks.trouble, "");
  ASSERT_TRUE(ranks.open({64}));
  ASSERT_TRUE(ranks.waitForGroup());
  EXPECT_EQ(ranks.run(100), "");
  EXPECT_EQ(ranks.transport(0).multicastCounts().packets, 100u);
  EXPECT_EQ(ranks.transport(0).multicastCounts().resent, 0u);
  EXPECT_LT(ranks.transport(0).counts().packets, 20u) << "and nothing to each";
}

// A later packet shows the gap: no timeout is needed. In time of the test's own, of which each poll
// takes a microsecond.
TEST(Multicast, gapsAreReportedAtOnce) {
  Broadcasts ranks(4, ethernet);
  ASSERT_EQ(ranks.trouble, "");
  for (uint32_t r = 0; r < 4; ++r)
    ranks.calls(r).stopClock();
  datagram::TimeNs time = 0;
  ranks.eachPoll = [&] {
    for (uint32_t r = 0; r < 4; ++r)
      ranks.calls(r).turnClock(1000);
    time += 1000;
  };
  ASSERT_TRUE(ranks.open({64, 65}));
  ASSERT_TRUE(ranks.waitForGroup());
  ASSERT_EQ(ranks.run(10), "");
  bool wasLost = false;
  ranks.calls(0).loses = [&](const mmsghdr &message) {
    return goesToMany(message) && !std::exchange(wasLost, true);
  };
  time = 0;
  EXPECT_EQ(ranks.run(1), "");
  EXPECT_TRUE(wasLost);
  EXPECT_LT(time, datagram::Options().minTimeout.count());
}

// Acknowledgements are combined: the root hears of the four below it, of every set.
TEST(Multicast, acknowledgementsAreFew) {
  Broadcasts ranks(8, ethernet);
  ASSERT_EQ(ranks.trouble, "");
  ASSERT_TRUE(ranks.open({64}));
  ASSERT_TRUE(ranks.waitForGroup());
  uint64_t before = 0, after = 0;
  for (uint32_t r = 1; r < 8; ++r)
    before += ranks.transport(r).multicastCounts().acks;
  EXPECT_EQ(ranks.run(100), "");
  for (uint32_t r = 1; r < 8; ++r)
    after += ranks.transport(r).multicastCounts().acks;
  EXPECT_GE(after - before, 7u * 24);
  EXPECT_LE(after - before, 7u * 40);
}

TEST(Multicast, longMessagesAreSentOnce) {
  Broadcasts ranks(5, ethernet);
  ASSERT_EQ(ranks.trouble, "");
  ASSERT_TRUE(ranks.open({0, 1, 8192, 16384, 16385, 300000}));
  ASSERT_TRUE(ranks.waitForGroup());
  EXPECT_EQ(ranks.run(10), "");
  EXPECT_EQ(ranks.transport(0).multicastCounts().resent, 0u);
  EXPECT_LT(ranks.transport(0).multicastCounts().packets,
            10u * (6 + 2 + (24000 + 300000) / 1300 + 40));
}

// The memory of the four sets at a root or a member, and that of every transport.
constexpr uint64_t kMaxMemory =
    16 * (datagram::kMulticastBodyBytes + datagram::kMulticastHeadBytes) + 16 * 9216 + 200'000;

class MulticastWeather : public testing::TestWithParam<double> {};

TEST_P(MulticastWeather, everyByteIsRight) {
  double loss = GetParam();
  for (uint64_t seed : {1u, 2u}) {
    Weather weather = {loss / 2, loss, loss, loss / 4, seed, loss / 2};
    Broadcasts ranks(6, ethernet, weather);
    ASSERT_EQ(ranks.trouble, "");
    ASSERT_TRUE(ranks.open({8, 3000, 16384, 60000}));
    ASSERT_TRUE(ranks.waitForGroup());
    auto begin = Clock::now();
    ASSERT_EQ(ranks.run(20), "") << "seed " << seed;
    std::chrono::duration<double, std::milli> took = Clock::now() - begin;
    const MulticastCounts &counts = ranks.transport(0).multicastCounts();
    std::printf("%g lost, reordered and repeated: %.1f ms, %lu packets, %lu again, %lu forwarded\n",
                loss, took.count(), counts.packets, counts.resent, counts.forwarded);
    EXPECT_GT(counts.packets, 100u); // long ones wait for few members that are late
    EXPECT_GE(counts.resent, loss < 0.01 ? 0u : 10u);
    EXPECT_EQ(counts.forwarded, 0u) << "no reason to give it up";
    for (uint32_t r = 0; r < ranks.numRanks(); ++r)
      EXPECT_LT(ranks.transport(r).bytes(), kMaxMemory) << r;
  }
}

INSTANTIATE_TEST_SUITE_P(All, MulticastWeather, testing::Values(0.001, 0.01, 0.05, 0.2),
                         [](const auto &info) {
                           return "lost" + std::to_string(int(info.param * 1000)) + "in1000";
                         });

// More than there are channels, at once; then the window is full, and it goes to one at a time.
TEST(Multicast, manyAtOnce) {
  Broadcasts ranks(4, ethernet);
  ASSERT_EQ(ranks.trouble, "");
  ASSERT_TRUE(ranks.open(std::vector<uint64_t>(100, 2000)));
  ASSERT_TRUE(ranks.waitForGroup());
  EXPECT_EQ(ranks.run(5), "");
  EXPECT_GT(ranks.transport(0).multicastCounts().packets, 100u);
}

TEST(Multicast, aMemberThatCannotJoinPreventsMulticast) {
  Broadcasts ranks(4, [](Rank r) {
    datagram::Options options = ethernet(r);
    options.multicast = r != Rank{2};
    return options;
  });
  ASSERT_EQ(ranks.trouble, "");
  ASSERT_TRUE(ranks.open({64, 20000}));
  EXPECT_EQ(ranks.run(20), "");
  EXPECT_FALSE(ranks.waitForGroup(50ms));
  EXPECT_EQ(ranks.run(20), "");
  EXPECT_EQ(ranks.transport(0).multicastCounts().packets, 0u);
}

// Where the network passes no multicast at all no member receives from the root, and it is not
// used.
TEST(Multicast, aDeafRankIsNoMember) {
  Broadcasts ranks(4, ethernet);
  ASSERT_EQ(ranks.trouble, "");
  ranks.calls(3).isDeaf = hearsMany;
  ASSERT_TRUE(ranks.open({64, 20000}));
  EXPECT_FALSE(ranks.waitForGroup(100ms));
  EXPECT_EQ(ranks.run(20), "");
  EXPECT_EQ(ranks.transport(0).multicastCounts().packets, 0u);
}

// More messages than a root keeps, so that it waits for acknowledgements, of which the first twelve
// of each member are lost.
TEST(Multicast, lostAcknowledgementsAreNoReasonToGiveItUp) {
  Broadcasts ranks(4, ethernet);
  ASSERT_EQ(ranks.trouble, "");
  ASSERT_TRUE(ranks.open(std::vector<uint64_t>(40, 64)));
  ASSERT_TRUE(ranks.waitForGroup());
  for (uint32_t r = 1; r < 4; ++r)
    ranks.calls(r).loses = [lost = 0](const mmsghdr &message) mutable {
      return headerOf(message).kind == datagram::PacketKind::MulticastAck && ++lost <= 12;
    };
  EXPECT_EQ(ranks.run(1), "");
  for (uint32_t r = 1; r < 4; ++r)
    EXPECT_EQ(ranks.calls(r).numLost(), 12u);
  EXPECT_EQ(ranks.transport(0).multicastCounts().forwarded, 0u);
}

// Of one frame all members lose the first twelve copies.
TEST(Multicast, partsThatGetLostOftenAreNoReasonToGiveItUp) {
  Broadcasts ranks(4, ethernet);
  ASSERT_EQ(ranks.trouble, "");
  ASSERT_TRUE(ranks.open({64}));
  ASSERT_TRUE(ranks.waitForGroup());
  ASSERT_EQ(ranks.run(5), "");
  ranks.calls(0).loses = [lost = 0](const mmsghdr &message) mutable {
    return goesToMany(message) && headerOf(message).kind == datagram::PacketKind::Multicast &&
           ++lost <= 12;
  };
  for (int run = 0; run < 12 && ranks.calls(0).numLost() < 12; ++run)
    EXPECT_EQ(ranks.run(1), "");
  EXPECT_EQ(ranks.calls(0).numLost(), 12u);
  EXPECT_EQ(ranks.run(20), "");
  EXPECT_EQ(ranks.transport(0).multicastCounts().forwarded, 0u);
}

// From one moment on: what is on its way, and all that follows, goes down the tree.
TEST(Multicast, repeatedLossMovesTheGroupToTheTree) {
  Broadcasts ranks(8, ethernet);
  ASSERT_EQ(ranks.trouble, "");
  ASSERT_TRUE(ranks.open({64, 16384, 50000}));
  ASSERT_TRUE(ranks.waitForGroup());
  ASSERT_EQ(ranks.run(5), "");
  ASSERT_EQ(ranks.transport(0).multicastCounts().forwarded, 0u);
  ranks.calls(0).loses = goesToMany;
  EXPECT_EQ(ranks.run(20), "");
  EXPECT_GT(ranks.transport(0).multicastCounts().forwarded, 20u);
  EXPECT_GT(ranks.transport(1).multicastCounts().forwarded, 20u) << "members do their part";
  EXPECT_EQ(ranks.transport(7).multicastCounts().forwarded, 0u);
}

// One of many hears nothing any more: the root tells it all again, but not for ever.
TEST(Multicast, aDeafMemberMovesTheGroupToTheTree) {
  Broadcasts ranks(4, ethernet);
  ASSERT_EQ(ranks.trouble, "");
  ASSERT_TRUE(ranks.open({64}));
  ASSERT_TRUE(ranks.waitForGroup());
  ranks.calls(2).isDeaf = hearsMany;
  EXPECT_EQ(ranks.run(60), "");
  EXPECT_GE(ranks.transport(0).multicastCounts().resent, 16u);
  EXPECT_GT(ranks.transport(0).multicastCounts().forwarded, 60u);
}

// In the tree, too, everything gets lost now and then.
TEST(Multicast, theTreeStandsBadWeather) {
  Weather weather = {0.1, 0.1, 0.1, 0.01, 7, 0};
  Broadcasts ranks(7, ethernet, weather);
  ASSERT_EQ(ranks.trouble, "");
  ASSERT_TRUE(ranks.open({64, 16384, 50000}));
  ASSERT_TRUE(ranks.waitForGroup());
  ranks.calls(0).loses = goesToMany;
  EXPECT_EQ(ranks.run(20), "");
  EXPECT_GT(ranks.transport(0).multicastCounts().forwarded, 20u);
}

// The others do not wait for it, long as the message is.
TEST(Multicast, aLateMemberIsNotAwaited) {
  Broadcasts ranks(4, ethernet);
  ASSERT_EQ(ranks.trouble, "");
  ASSERT_TRUE(ranks.open({64, 100000}));
  ASSERT_TRUE(ranks.waitForGroup());
  auto begin = Clock::now();
  EXPECT_EQ(ranks.run(3, 3), "");
  EXPECT_LT(Clock::now() - begin, 5s);
}

// It closes the plan while its only packet is lost.
TEST(Multicast, aRootThatHasSentEverythingMayLeave) {
  Broadcasts ranks(4, ethernet);
  ASSERT_EQ(ranks.trouble, "");
  ASSERT_TRUE(ranks.open({64}));
  ASSERT_TRUE(ranks.waitForGroup());
  auto until = Clock::now() + 50ms; // longer than a deserted member waits
  ranks.calls(0).loses = [&](const mmsghdr &message) {
    return goesToMany(message) && Clock::now() < until;
  };
  EXPECT_EQ(ranks.runAndLeave(), "");
  EXPECT_GT(ranks.calls(0).numLost(), 0u);
}

// Sends that are no group after all: one comes later, or has other bytes.
TEST(Multicast, differentMessagesGoToOneReceiverAtATime) {
  Broadcasts ranks(3, ethernet);
  ASSERT_EQ(ranks.trouble, "");
  ASSERT_TRUE(ranks.open({64}));
  ASSERT_TRUE(ranks.waitForGroup());
  for (bool isLater : {false, true}) {
    uint64_t first = 1, second = 2, got[2] = {};
    iovec from[2] = {{&first, 8}, {&second, 8}}, to[2] = {{&got[0], 8}, {&got[1], 8}};
    for (uint32_t r = 0; r < 3; ++r)
      ranks.channels(r).start();
    ranks.channels(0).send({0, 0}, OpId{0}, {&from[0], 1, true, false, 8});
    for (int i = 0; i < 10 && isLater; ++i)
      ranks.poll();
    ranks.channels(0).send({1, 0}, OpId{1}, {&from[isLater ? 0 : 1], 1, true, false, 8});
    for (uint32_t r = 1; r < 3; ++r)
      ranks.channels(r).recv({0, 0}, OpId{0}, {&to[r - 1], 1, true, false, 8});
    for (auto begin = Clock::now(); (got[0] == 0 || got[1] == 0) && Clock::now() - begin < 5s;)
      ranks.poll();
    EXPECT_EQ(got[0], 1u);
    EXPECT_EQ(got[1], isLater ? 1u : 2u);
  }
  EXPECT_EQ(ranks.transport(0).multicastCounts().packets, 0u);
}

/// Where a rank says the last thing to many, and the header of that.
struct Overheard {
  sockaddr_in where = {};
  datagram::PacketHeader seen;
};

/// It lives as long as the calls that use it.
std::shared_ptr<Overheard> overhear(LossyCalls &calls) {
  auto last = std::make_shared<Overheard>();
  calls.loses = [last](const mmsghdr &message) {
    if (goesToMany(message)) {
      std::memcpy(&last->where, message.msg_hdr.msg_name, sizeof last->where);
      std::memcpy(&last->seen, message.msg_hdr.msg_iov[0].iov_base, sizeof last->seen);
    }
    return false;
  };
  return last;
}

// Strangers that know where the group is, and a rank of the job that sends impossible reports.
TEST(Multicast, forgedDatagramsChangeNothing) {
  Broadcasts ranks(4, ethernet);
  ASSERT_EQ(ranks.trouble, "");
  auto last = overhear(ranks.calls(0));
  ASSERT_TRUE(ranks.open({64, 5000, 40000}));
  ASSERT_TRUE(ranks.waitForGroup());
  EXPECT_EQ(ntohl(last->where.sin_addr.s_addr) >> 16, 0xefffu) << "of those for a site";
  int stranger = socket(AF_INET, SOCK_DGRAM, 0);
  in_addr loopback = {htonl(INADDR_LOOPBACK)};
  setsockopt(stranger, IPPROTO_IP, IP_MULTICAST_IF, &loopback, sizeof loopback);
  std::mt19937_64 random(5);
  auto forge = [&] {
    datagram::PacketHeader header;
    header.kind = static_cast<datagram::PacketKind>(random() % 9);
    header.token = random() % 2 == 0 ? last->seen.token : random();
    header.from = Rank{static_cast<uint32_t>(random() % 5)};
    datagram::MulticastHeader multicast;
    multicast.group = static_cast<uint32_t>(random() % 20);
    multicast.root = Rank{static_cast<uint32_t>(random() % 5)};
    multicast.number = random() % 2 == 0 ? random() : 1000000 + random() % 100;
    multicast.bytes = static_cast<uint32_t>(random() % 20000);
    multicast.part = static_cast<uint16_t>(random() % 100);
    std::vector<std::byte> body(sizeof multicast + random() % 200), packet(sizeof header);
    std::memcpy(body.data(), &multicast, sizeof multicast);
    datagram::seal(header, body);
    std::memcpy(packet.data(), &header, sizeof header);
    packet.insert(packet.end(), body.begin(), body.end());
    (void)!sendto(stranger, packet.data(), packet.size(), 0,
                  reinterpret_cast<const sockaddr *>(&last->where), sizeof last->where);
  };
  ranks.eachPoll = forge;
  EXPECT_EQ(ranks.run(50), "");
  EXPECT_GT(ranks.transport(1).multicastCounts().refused, 50u);
  ::close(stranger);
}

// What waits for room in a plan that is closed was never said: the window is as it was.
TEST(Multicast, unsentFramesTakeNoWindow) {
  constexpr uint64_t kShort = 64, kLong = 16000, kAlone = 8 << 10;
  Broadcasts ranks(3, ethernet);
  ASSERT_EQ(ranks.trouble, "");
  std::vector<std::byte> bytes(kLong);
  // The members look at nothing from when the group is there.
  auto send = [&](uint32_t message, uint64_t size) {
    iovec piece = {bytes.data(), size};
    Payload payload = {&piece, 1, true, false, size};
    ranks.channels(0).send({0, message}, OpId{0}, payload);
    return ranks.channels(0).send({1, message}, OpId{1}, payload);
  };
  ASSERT_TRUE(ranks.open({kShort, kLong}));
  ASSERT_TRUE(ranks.waitForGroup());
  for (uint32_t i = 0; i < datagram::kMulticastChannels; ++i) {
    ranks.channels(0).start();
    send(0, kShort);
  }
  for (uint64_t left = 0; left < 2 * (128 << 10); left += kLong) {
    ranks.channels(0).start();
    send(1, kLong);
    ASSERT_TRUE(ranks.open({kShort, kLong}));
  }
  ASSERT_TRUE(ranks.open({kAlone}, false));
  ranks.channels(0).start();
  EXPECT_EQ(send(0, kAlone), Posted::Done) << "it need not ask";
}

/// Sends in the name of a group of another root, of which this rank is a member, too.
TEST(Multicast, onlyTheRootSendsForAGroup) {
  Broadcasts ranks(4, ethernet);
  ASSERT_EQ(ranks.trouble, "");
  auto last = overhear(ranks.calls(0));
  std::vector<std::unique_ptr<Channels>> channels; // ranks 0 and 1 broadcast to all others
  for (uint32_t r = 0; r < 4; ++r) {
    std::vector<EdgeSpec> out, in;
    for (uint32_t other = 0; other < 4; ++other) {
      if (other == r)
        continue;
      EdgeSpec edge{Rank{other}, {makeMessageId(5, 0)}, {Transfer{.multicast = true}}};
      if (r < 2)
        out.push_back(edge);
      if (other < 2)
        in.push_back(edge);
    }
    auto opened = ranks.endpoint(r).open({out, in});
    ASSERT_TRUE(opened.ok()) << opened.message();
    channels.push_back(opened.take());
  }
  auto pollUntil = [&](auto isOver) {
    for (auto until = Clock::now() + 10s; !isOver() && Clock::now() < until;)
      for (auto &one : channels)
        one->poll();
    return isOver();
  };
  ASSERT_TRUE(pollUntil([&] {
    return ranks.transport(0).multicast()->isReady(0) && ranks.transport(1).multicast()->isReady(0);
  }));
  uint64_t refused = ranks.transport(2).multicastCounts().refused;
  datagram::PacketHeader header;
  header.kind = datagram::PacketKind::Multicast;
  header.token = last->seen.token;
  header.from = Rank{0};
  datagram::MulticastHeader multicast;
  multicast.root = Rank{1};
  multicast.number = 1;
  multicast.bytes = 8;
  std::vector<std::byte> body(sizeof multicast + multicast.bytes), packet(sizeof header);
  std::memcpy(body.data(), &multicast, sizeof multicast);
  datagram::seal(header, body);
  std::memcpy(packet.data(), &header, sizeof header);
  packet.insert(packet.end(), body.begin(), body.end());
  int forger = socket(AF_INET, SOCK_DGRAM, 0);
  in_addr loopback = {htonl(INADDR_LOOPBACK)};
  setsockopt(forger, IPPROTO_IP, IP_MULTICAST_IF, &loopback, sizeof loopback);
  EXPECT_GT(sendto(forger, packet.data(), packet.size(), 0,
                   reinterpret_cast<const sockaddr *>(&last->where), sizeof last->where),
            0);
  EXPECT_TRUE(
      pollUntil([&] { return ranks.transport(2).multicastCounts().refused == refused + 1; }));
  ::close(forger);
}

/// Four ranks, of which `victim` is killed while rank 0 broadcasts; what the others say of it.
void killOne(Rank victim) {
  LocalOptions local;
  local.numRanks = 4;
  local.timeout = 30s;
  local.attach = [](shm::World &world, Rank r) {
    return protocol::attach(world, r, datagram::Options(), datagram::open(r, datagram::Options()));
  };
  auto outcomes = runLocalRanks(local, [&](Endpoint &endpoint) -> Result<std::vector<std::byte>> {
    std::vector<EdgeSpec> in, out;
    std::vector<MessageId> ids = {makeMessageId(3, 0)};
    std::vector<Transfer> ways = {Transfer{.multicast = true}};
    for (uint32_t r = 1; r < 4; ++r)
      if (endpoint.rank() == Rank{0})
        out.push_back({Rank{r}, ids, ways});
    if (endpoint.rank() != Rank{0})
      in.push_back({Rank{0}, ids, ways});
    auto channels = endpoint.open({out, in});
    if (!channels)
      return channels.status();
    std::vector<std::byte> bytes(30000);
    iovec piece = {bytes.data(), bytes.size()};
    Payload payload = {&piece, 1, true, false, bytes.size()};
    std::vector<Completion> done;
    for (auto begin = Clock::now(); !(*channels)->failed();) {
      if (endpoint.rank() == victim && Clock::now() - begin > 200ms)
        raise(SIGKILL);
      (*channels)->start();
      size_t pending = 0;
      done.clear();
      for (uint32_t edge = 0; edge < out.size(); ++edge)
        pending += (*channels)->send({edge, 0}, OpId{edge}, payload) == Posted::Pending;
      for (uint32_t edge = 0; edge < in.size(); ++edge)
        pending += (*channels)->recv({edge, 0}, OpId{edge}, payload) == Posted::Pending;
      if (!pollUntil(**channels, done, [&] { return done.size() == pending; }))
        break;
    }
    const Fault &fault = (*channels)->fault();
    if (fault.peer != victim || fault.reason.find(" died") == std::string::npos)
      return Status::error("fault: '" + fault.reason + "'");
    return std::vector<std::byte>();
  });
  ASSERT_TRUE(outcomes.ok()) << outcomes.message();
  for (uint32_t r = 0; r < 4; ++r) {
    const Status &status = (*outcomes)[r].status;
    EXPECT_TRUE(Rank{r} == victim || status.ok()) << r << ": " << status.message();
  }
}

TEST(Multicast, aKilledMemberIsNoticedByAll) { killOne(Rank{2}); }
TEST(Multicast, aKilledRootIsNoticedByAll) { killOne(Rank{0}); }

} // namespace
} // namespace colldsl::test
