// What is special about messages over libfabric.
#include "tests/transports/NetworkPair.h"
#include "transports/ofi/Attach.h"
#include "transports/ofi/OfiCarrier.h"

#include <arpa/inet.h>
#include <csignal>
#include <gtest/gtest.h>
#include <malloc.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace colldsl::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// A rank that is killed is named on all others, with the op that waits for it, also where they have
// no messages with it.
TEST(Ofi, aKilledRankIsNoticedByAll) {
  LocalOptions local;
  local.numRanks = 4;
  local.timeout = 30s;
  local.attach = [](shm::World &world, Rank r) { return ofi::attach(world, r, {}); };
  auto outcomes = runLocalRanks(local, [](Endpoint &endpoint) -> Result<std::vector<std::byte>> {
    // Rank 1 waits for rank 0, which waits for rank 3; rank 2 waits for rank 1.
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
  });
  ASSERT_TRUE(outcomes.ok()) << outcomes.message();
  EXPECT_EQ((*outcomes)[3].signal, SIGKILL);
  for (uint32_t r = 0; r < 3; ++r)
    EXPECT_TRUE((*outcomes)[r].status.ok()) << r << ": " << (*outcomes)[r].status.message();
}

TEST(Ofi, errorsOfOpeningNameWhatWasAskedFor) {
  ofi::Options options;
  options.provider = "carrier-pigeon";
  auto endpoint = ofi::makeEndpoint(Rank{0}, 1, options);
  ASSERT_FALSE(endpoint.ok());
  EXPECT_NE(endpoint.message().find("'carrier-pigeon'"), std::string::npos);
  options = {};
  options.bind = "198.51.100.7"; // no address of ours
  EXPECT_FALSE(ofi::makeEndpoint(Rank{0}, 1, options).ok());
  options.bind = "everywhere";
  EXPECT_FALSE(ofi::makeEndpoint(Rank{0}, 1, options).ok());
}

// Nothing listens at an address that was not asked for.
TEST(Ofi, socketsAreBoundWhereTheyAreTold) {
  auto endpoint = ofi::makeEndpoint(Rank{0}, 1);
  ASSERT_TRUE(endpoint.ok()) << endpoint.message();
  const network::Card &card = (*endpoint)->card();
  EXPECT_EQ(card.watchAddress, htonl(INADDR_LOOPBACK));
  sockaddr_in name;
  ASSERT_EQ(card.addressBytes, sizeof name);
  std::memcpy(&name, card.address.data(), sizeof name);
  EXPECT_EQ(name.sin_addr.s_addr, htonl(INADDR_LOOPBACK));
}

// Somebody who knows where the ranks are, but not their tokens.
TEST(Ofi, strangersAreSentAway) {
  NetworkPair pair([](Rank r) { return ofi::makeEndpoint(r, 2); });
  ASSERT_EQ(pair.trouble, "");
  const network::Card &card = pair.endpoints[0]->card();
  int stranger = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in name = {};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = card.watchAddress;
  name.sin_port = card.watchPort;
  ASSERT_EQ(connect(stranger, reinterpret_cast<sockaddr *>(&name), sizeof name), 0);
  ASSERT_EQ(write(stranger, "let me in", 8), 8);
  // An endpoint of another job, which takes its own token for that of rank 0.
  ofi::Options hasty;
  hasty.linger = 0ns;
  auto other = ofi::makeEndpoint(Rank{1}, 2, hasty);
  ASSERT_TRUE(other.ok()) << other.message();
  network::Card forged = card;
  forged.token = 0x1234;
  ASSERT_TRUE((*other)->meet([&](Rank) -> Result<network::Card> { return forged; }).ok());
  (*other)->refuse("no job of yours");
  EXPECT_EQ(pair.exchange({100, 100000}, 3, [&] { (*other)->refuse("nor this"); }), "");
  auto until = Clock::now() + 5s;
  while (pair.endpoints[0]->numRefused() < 3 && Clock::now() < until)
    EXPECT_EQ(pair.exchange({8}, 1), "");
  EXPECT_GE(pair.endpoints[0]->numRefused(), 3u);
  timeval limit = {2, 0};
  setsockopt(stranger, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  char byte;
  EXPECT_EQ(read(stranger, &byte, 1), 0) << "the connection still stands";
  close(stranger);
  pair.closeAll();
}

struct Need {
  size_t peers = 0;
  uint64_t frames = 0;
  int64_t heap = 0;
};

// Of a rank with 8 edges. One endpoint stands for all others.
Need needAmong(uint32_t numRanks) {
  ofi::Options options;
  options.linger = 0ns;
  auto self = ofi::makeEndpoint(Rank{0}, numRanks, options);
  auto peer = ofi::makeEndpoint(Rank{1}, numRanks, options);
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

TEST(Ofi, memoryFollowsEdgesNotRanks) {
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
