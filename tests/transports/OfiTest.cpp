// What is special about messages over libfabric.
#include "tests/transports/NetworkChecks.h"
#include "transports/ofi/Domains.h"
#include "transports/ofi/OfiTransport.h"
#include "transports/ofi/OpenOfi.h"

#include <algorithm>
#include <arpa/inet.h>
#include <atomic>
#include <cstdlib>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace colldsl::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

TEST(Ofi, aKilledRankIsNoticedByAll) {
  expectThatKilledRanksAreNoticed([](shm::World &world, Rank r) {
    return protocol::attach(world, r, ofi::Options(), ofi::open(ofi::Options()));
  });
}

// Ranks that are forked afterwards need not load libfabric, and can use what they inherited.
TEST(Ofi, ranksInheritWhatWasPrepared) {
  ofi::prepare(ofi::Options()).wait();
  LocalOptions options;
  options.numRanks = 3;
  options.attach = [](shm::World &world, Rank r) -> Result<std::unique_ptr<Endpoint>> {
    if (!dlopen("libfabric.so.1", RTLD_LAZY | RTLD_NOLOAD))
      return Status::error("libfabric is not loaded yet");
    if (!getenv("FI_OFI_RXM_MSG_RX_SIZE"))
      return Status::error("ofi_rxm is free to post what it likes");
    return protocol::attach(world, r, ofi::Options(), ofi::open(ofi::Options()));
  };
  auto outcomes = runLocalRanks(options, [](Endpoint &endpoint) {
    return Result<std::vector<std::byte>>({std::byte(index(endpoint.rank()))});
  });
  ASSERT_TRUE(outcomes.ok()) << outcomes.message();
  for (const RankOutcome &outcome : *outcomes)
    EXPECT_TRUE(outcome.status.ok()) << outcome.status.message();
}

// A send over sockets is over once the kernel has all of it.
TEST(Ofi, socketsHoldNoFrameUnseen) {
  for (const char *provider : {"tcp", "net"}) {
    ofi::Options options;
    options.provider = provider;
    auto transport = ofi::OfiTransport::open(options);
    if (!transport)
      continue; // later versions have no net
    EXPECT_TRUE((*transport)->capabilities().holdsFrames) << provider;
    EXPECT_EQ((*transport)->capabilities().injectBytes, 0u) << provider;
  }
  for (const char *name : {"FI_TCP_STAGING_SBUF_SIZE", "FI_NET_STAGING_SBUF_SIZE"})
    EXPECT_STREQ(getenv(name), "0");
}

TEST(Ofi, errorsOfOpenNameTheRequest) {
  ofi::Options options;
  options.provider = "transport-pigeon";
  auto endpoint =
      protocol::NetworkEndpoint::make(Rank{0}, 1, options, ofi::OfiTransport::open(options));
  ASSERT_FALSE(endpoint.ok());
  EXPECT_NE(endpoint.message().find("'transport-pigeon'"), std::string::npos);
  options = {};
  options.bind = "198.51.100.7"; // no address of ours
  EXPECT_FALSE(
      protocol::NetworkEndpoint::make(Rank{0}, 1, options, ofi::OfiTransport::open(options)).ok());
  options.bind = "everywhere";
  EXPECT_FALSE(
      protocol::NetworkEndpoint::make(Rank{0}, 1, options, ofi::OfiTransport::open(options)).ok());
}

// Nothing listens at an address that was not asked for.
TEST(Ofi, socketsAreBoundToTheGivenAddress) {
  auto endpoint = protocol::NetworkEndpoint::make(Rank{0}, 1, ofi::Options(),
                                                  ofi::OfiTransport::open(ofi::Options()));
  ASSERT_TRUE(endpoint.ok()) << endpoint.message();
  const network::RankAddress &rankAddress = (*endpoint)->rankAddress();
  EXPECT_EQ(inWords(rankAddress.monitorAddress), "127.0.0.1");
  sockaddr_in name;
  ASSERT_EQ(rankAddress.addressBytes, sizeof name);
  std::memcpy(&name, rankAddress.address.data(), sizeof name);
  EXPECT_EQ(name.sin_addr.s_addr, htonl(INADDR_LOOPBACK));
}

// A process that knows where the ranks are, but not their tokens.
TEST(Ofi, strangersAreSentAway) {
  NetworkPair pair([](Rank r) {
    return protocol::NetworkEndpoint::make(r, 2, ofi::Options(),
                                           ofi::OfiTransport::open(ofi::Options()));
  });
  ASSERT_EQ(pair.trouble, "");
  const network::RankAddress &rankAddress = pair.endpoints[0]->rankAddress();
  int stranger = socket(AF_INET, SOCK_STREAM, 0);
  SocketName name(rankAddress.monitorAddress, rankAddress.monitorPort);
  ASSERT_EQ(connect(stranger, name.get(), name.bytes), 0);
  ASSERT_EQ(write(stranger, "let me in", 8), 8);
  // An endpoint of another job, which takes its own token for that of rank 0.
  ofi::Options hasty;
  hasty.linger = 0ns;
  auto other = protocol::NetworkEndpoint::make(Rank{1}, 2, hasty, ofi::OfiTransport::open(hasty));
  ASSERT_TRUE(other.ok()) << other.message();
  network::RankAddress forged = rankAddress;
  forged.token = 0x1234;
  ASSERT_TRUE((*other)->start([&](Rank) -> Result<network::RankAddress> { return forged; }).ok());
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

/// Rank 1 may write a message for rank 0, which gives the plan up.
struct CancelledByReceiver {
  explicit CancelledByReceiver(const ofi::Options &options)
      : pair([=](Rank r) {
          return protocol::NetworkEndpoint::make(r, 2, options, ofi::OfiTransport::open(options));
        }) {
    EXPECT_EQ(pair.trouble, "");
    Transfer way;
    way.protocol = Protocol::Static;
    std::vector<EdgeSpec> edge[2];
    for (uint32_t r = 0; r < 2; ++r) {
      edge[r].push_back({Rank{1 - r}, {makeMessageId(3, 0)}, {way}});
      auto opened =
          r == 0 ? pair.endpoints[0]->open({{}, edge[0]}) : pair.endpoints[1]->open({edge[1], {}});
      EXPECT_TRUE(opened.ok()) << opened.message();
      channels[r] = opened.take();
      channels[r]->start();
    }
    channels[0]->recv({0, 0}, OpId{0}, {&piece, 1, true, false, bytes.size()});
    channels[0]->abort({kNoRank, kNoOp, "not needed"});
  }
  NetworkPair pair;
  std::vector<std::byte> bytes = std::vector<std::byte>(100000);
  iovec piece = {bytes.data(), bytes.size()};
  std::unique_ptr<Channels> channels[2];
};

// It may be writing as long as it has not said anything of the plan.
TEST(Ofi, aPlanThatFailedWaitsForItsWriters) {
  ofi::Options options;
  options.linger = options.lingerAfterFailure = 30s;
  CancelledByReceiver given(options);
  std::atomic<bool> looks = false, lookedFirst = false;
  std::thread closing([&] {
    given.channels[0].reset();
    lookedFirst = looks.load();
  });
  std::this_thread::sleep_for(100ms);
  looks = true;
  for (auto until = Clock::now() + 10s; given.channels[1]->check() && Clock::now() < until;)
    given.channels[1]->poll();
  EXPECT_EQ(given.channels[1]->fault().reason, "not needed");
  given.channels[1].reset();
  closing.join();
  EXPECT_TRUE(lookedFirst);
}

/// Rank 1 may read a message of rank 0, which gives the plan up, and uses the memory again.
struct CancelledBySender {
  CancelledBySender()
      : pair([](Rank r) {
          return protocol::NetworkEndpoint::make(r, 2, options(),
                                                 ofi::OfiTransport::open(options()));
        }) {
    EXPECT_EQ(pair.trouble, "");
    Transfer way;
    way.mover = Mover::Reader;
    for (uint32_t r = 0; r < 2; ++r) {
      std::vector<EdgeSpec> edge = {{Rank{1 - r}, {makeMessageId(3, 0)}, {way}}};
      auto opened =
          r == 0 ? pair.endpoints[0]->open({edge, {}}) : pair.endpoints[1]->open({{}, edge});
      EXPECT_TRUE(opened.ok()) << opened.message();
      channels[r] = opened.take();
      channels[r]->start();
    }
    EXPECT_EQ(channels[0]->send({0, 0}, OpId{0}, {&sent, 1, true, false, kBytes}), Posted::Pending);
  }
  static ofi::Options options() {
    ofi::Options options;
    options.linger = options.lingerAfterFailure = 50ms;
    return options;
  }
  void poll(uint32_t rank, int times = 100) {
    for (int i = 0; i < times; ++i, std::this_thread::sleep_for(100us))
      channels[rank]->poll();
  }
  void receive() { channels[1]->recv({0, 0}, OpId{0}, {&received, 1, true, false, kBytes}); }
  void cancel() {
    channels[0]->abort({kNoRank, kNoOp, "not needed"});
    channels[0].reset();
    std::fill(from.begin(), from.end(), std::byte{2});
  }
  // Rank 1 fails in that plan alone, or has what was sent.
  void expectNoHarm() {
    size_t done = 0;
    for (auto until = Clock::now() + 10s;
         done == 0 && channels[1]->check() && Clock::now() < until;)
      done += channels[1]->poll().size();
    if (done == 0) {
      EXPECT_EQ(channels[1]->fault().reason, "not needed");
    } else {
      EXPECT_EQ(to, std::vector<std::byte>(kBytes, std::byte{1}));
    }
    channels[1].reset();
    EXPECT_EQ(pair.exchange({8, 100000}, 3), "");
  }

  static constexpr size_t kBytes = 100000;
  std::vector<std::byte> from = std::vector<std::byte>(kBytes, std::byte{1});
  std::vector<std::byte> to = std::vector<std::byte>(kBytes);
  iovec sent = {from.data(), kBytes}, received = {to.data(), kBytes};
  NetworkPair pair;
  std::unique_ptr<Channels> channels[2];
};

TEST(Ofi, aCancelledSendIsNotRead) {
  CancelledBySender given;
  given.poll(1); // it is there before it is wanted
  given.cancel();
  given.receive();
  given.expectNoHarm();
}

TEST(Ofi, aCancelledSendFailsNoReader) {
  CancelledBySender given;
  given.poll(1);
  given.receive();
  given.poll(1, 1);
  given.cancel();
  given.expectNoHarm();
}

// The receiver uses its memory again once the sender has said that it failed, and moves nothing.
TEST(Ofi, aSenderThatFailedWritesNoMore) {
  NetworkPair pair([](Rank r) {
    return protocol::NetworkEndpoint::make(r, 2, CancelledBySender::options(),
                                           ofi::OfiTransport::open(CancelledBySender::options()));
  });
  ASSERT_EQ(pair.trouble, "");
  constexpr size_t kBytes = 100000;
  std::vector<std::byte> from(kBytes, std::byte{1}), to(kBytes);
  iovec sent = {from.data(), kBytes}, received = {to.data(), kBytes};
  Transfer way;
  way.protocol = Protocol::Static; // the receiver says where it wants the message
  std::vector<EdgeSpec> out = {{Rank{0}, {makeMessageId(3, 0)}, {way}}},
                        in = {{Rank{1}, {makeMessageId(3, 0)}, {way}}};
  auto sender = pair.endpoints[1]->open({out, {}}), receiver = pair.endpoints[0]->open({{}, in});
  ASSERT_TRUE(sender.ok() && receiver.ok());
  (*sender)->start();
  (*receiver)->start();
  (*receiver)->recv({0, 0}, OpId{0}, {&received, 1, true, false, kBytes});
  EXPECT_EQ((*sender)->send({0, 0}, OpId{0}, {&sent, 1, true, false, kBytes}), Posted::Pending);
  (*sender)->abort({kNoRank, kNoOp, "not needed"});
  auto pollBoth = [&] {
    (*sender)->poll();
    (*receiver)->poll();
  };
  for (auto until = Clock::now() + 10s; (*receiver)->check() && Clock::now() < until;)
    pollBoth();
  EXPECT_EQ((*receiver)->fault().reason, "not needed");
  for (int i = 0; i < 100; ++i, std::this_thread::sleep_for(100us))
    pollBoth();
  receiver->reset();
  std::fill(to.begin(), to.end(), std::byte{2});
  EXPECT_EQ(pair.exchange({8, 100000}, 3), "");
  EXPECT_EQ(to, std::vector<std::byte>(kBytes, std::byte{2}));
  sender->reset();
}

// A rank that refused a plan writes nothing of it, and says so to those that would wait for it.
TEST(Ofi, aPlanThatAPeerRefusedIsClosedAtOnce) {
  ofi::Options options;
  options.linger = options.lingerAfterFailure = 30s;
  NetworkPair pair([&](Rank r) {
    return protocol::NetworkEndpoint::make(r, 2, options, ofi::OfiTransport::open(options));
  });
  ASSERT_EQ(pair.trouble, "");
  std::vector<std::byte> to(100000);
  iovec received = {to.data(), to.size()};
  Transfer way;
  way.protocol = Protocol::Static;
  std::vector<EdgeSpec> in = {{Rank{1}, {makeMessageId(3, 0)}, {way}}};
  auto receiver = pair.endpoints[0]->open({{}, in});
  ASSERT_TRUE(receiver.ok());
  (*receiver)->start();
  (*receiver)->recv({0, 0}, OpId{0}, {&received, 1, true, false, to.size()});
  pair.endpoints[1]->refuse("no memory");
  std::atomic<bool> isClosed = false;
  std::thread closing([&] {
    for (auto until = Clock::now() + 10s; (*receiver)->check() && Clock::now() < until;)
      (*receiver)->poll();
    receiver->reset();
    isClosed = true;
  });
  auto other = pair.endpoints[1]->open({{}, {}});
  ASSERT_TRUE(other.ok());
  for (auto until = Clock::now() + 10s; !isClosed && Clock::now() < until;)
    (*other)->poll();
  EXPECT_TRUE(isClosed);
  closing.join();
  other->reset();
  pair.closeAll();
}

// Nothing of this rank moves any more, for its memory may be written.
TEST(Ofi, aSilentWriterFailsTheRank) {
  ofi::Options options;
  options.linger = options.lingerAfterFailure = 50ms;
  CancelledByReceiver given(options);
  given.channels[0].reset();
  auto next = given.pair.endpoints[0]->open({{}, {}});
  ASSERT_TRUE(next.ok()) << next.message();
  EXPECT_FALSE((*next)->check());
  EXPECT_EQ((*next)->fault().reason,
            "rank 1 may still write for a plan that failed, and does not answer");
  EXPECT_EQ((*next)->fault().peer, Rank{1});
}

/// Of a list that libfabric might give.
struct Offer {
  explicit Offer(const char *domain, const char *fabric = "one", const char *provider = "cxi") {
    info.domain_attr = &domainOf;
    info.fabric_attr = &fabricOf;
    info.ep_attr = &endpointOf;
    info.nic = &nic;
    nic.link_attr = &link;
    nic.bus_attr = &bus;
    domainOf.name = const_cast<char *>(domain);
    fabricOf.name = const_cast<char *>(fabric);
    fabricOf.prov_name = const_cast<char *>(provider);
  }
  Offer(const Offer &) = delete;
  fi_info info = {};
  fi_domain_attr domainOf = {};
  fi_fabric_attr fabricOf = {};
  fi_ep_attr endpointOf = {};
  fid_nic nic = {};
  fi_link_attr link = {};
  fi_bus_attr bus = {};
};

TEST(Ofi, domainsAreEqualThatReachTheSamePeers) {
  Offer down("cxi0"), first("cxi1"), again("cxi1"), elsewhere("cxi2", "two"),
      other("x", "one", "y"), weaker("cxi3"), last("cxi4");
  down.link.state = FI_LINK_DOWN;
  weaker.info.caps = FI_MSG;
  Offer *list[] = {&down, &first, &again, &elsewhere, &other, &weaker, &last};
  for (size_t i = 0; i + 1 < std::size(list); ++i)
    list[i]->info.next = &list[i + 1]->info;
  EXPECT_EQ(ofi::equalDomains(&down.info), (std::vector<const fi_info *>{&first.info, &last.info}));
  first.info.next = nullptr;
  first.link.state = FI_LINK_DOWN;
  EXPECT_EQ(ofi::equalDomains(&down.info), (std::vector<const fi_info *>{&down.info}));
}

TEST(Ofi, domainsAreKnownByTheirPlaceOnTheBus) {
  Offer offer("mlx5_1-rdm");
  offer.bus.bus_type = FI_BUS_PCI;
  offer.bus.attr.pci = {1, 0x82, 3, 1};
  EXPECT_EQ(ofi::nicOf(offer.info).bus, "0001:82:03.1");
  EXPECT_EQ(ofi::nicOf(offer.info).name, "mlx5_1-rdm");
  offer.info.nic = nullptr;
  EXPECT_EQ(ofi::nicOf(offer.info).bus, "");
}

TEST(Ofi, memoryFollowsEdgesNotRanks) {
  ofi::Options options;
  options.linger = 0ns;
  expectThatMemoryFollowsEdges([&](Rank r, uint32_t numRanks) {
    return protocol::NetworkEndpoint::make(r, numRanks, options, ofi::OfiTransport::open(options));
  });
}

} // namespace
} // namespace colldsl::test
