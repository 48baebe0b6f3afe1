// What is special about messages over libfabric.
#include "tests/transports/NetworkChecks.h"
#include "transports/ofi/Attach.h"
#include "transports/ofi/OfiCarrier.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace colldsl::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

TEST(Ofi, aKilledRankIsNoticedByAll) {
  expectThatKilledRanksAreNoticed(
      [](shm::World &world, Rank r) { return ofi::attach(world, r, {}); });
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
  EXPECT_EQ(network::inWords(card.watchAddress), "127.0.0.1");
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
  network::SocketName name(card.watchAddress, card.watchPort);
  ASSERT_EQ(connect(stranger, name.get(), name.bytes), 0);
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

TEST(Ofi, memoryFollowsEdgesNotRanks) {
  ofi::Options options;
  options.linger = 0ns;
  expectThatMemoryFollowsEdges(
      [&](Rank r, uint32_t numRanks) { return ofi::makeEndpoint(r, numRanks, options); });
}

} // namespace
} // namespace colldsl::test
