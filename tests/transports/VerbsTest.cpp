// What is special about messages over an RDMA device. Skipped where there is none: tests/rdma runs
// it where there is one.
#include "tests/transports/NetworkChecks.h"
#include "tests/transports/VerbsFixture.h"
#include "transports/verbs/Nearest.h"
#include "transports/verbs/OpenVerbs.h"
#include "transports/verbs/VerbsTransport.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <set>
#include <thread>

namespace colldsl::test {
namespace {

using namespace std::chrono_literals;

bool isIwarp() { return (*verbs::Device::open({}))->isIwarp(); }

TEST_F(Verbs, errorsOfOpenNameTheRequest) {
  auto messageOf = [](const verbs::Options &options) {
    return protocol::NetworkEndpoint::make(Rank{0}, 1, options,
                                           verbs::VerbsTransport::open(1, options))
        .message();
  };
  verbs::Options options;
  options.device = "pigeon0";
  EXPECT_EQ(messageOf(options), "there is no RDMA device 'pigeon0'");
  options = {};
  options.port = 9;
  EXPECT_NE(messageOf(options).find("no port of "), std::string::npos);
  options = {};
  options.gidIndex = 200;
  EXPECT_NE(messageOf(options).find("has no GID 200"), std::string::npos);
}

TEST_F(Verbs, theEnvironmentIsReadWithCare) {
  auto read = [] {
    NetworkSettings settings("verbs", "", NetworkSettings::From::TextAndEnvironment);
    return verbs::readOptions(settings);
  };
  setenv("COLLDSL_VERBS_GID", "one", 1);
  EXPECT_EQ(read().message(), "COLLDSL_VERBS_GID is 'one', which is no number up to 255");
  setenv("COLLDSL_VERBS_GID", "0", 1);
  EXPECT_EQ(read()->gidIndex, 0);
  unsetenv("COLLDSL_VERBS_GID");
  setenv("COLLDSL_VERBS_IN_ORDER", "some", 1);
  EXPECT_EQ(read().message(), "COLLDSL_VERBS_IN_ORDER is 'some', which is no number of bytes");
  setenv("COLLDSL_VERBS_IN_ORDER", "64", 1);
  EXPECT_EQ(read()->inOrderBytes, 64u);
  unsetenv("COLLDSL_VERBS_IN_ORDER");
}

// Software does not answer, so that what is known of it counts.
TEST_F(Verbs, theOrderOfBytesIsWhatTheDeviceSaysOrIsGiven) {
  verbs::Options options;
  auto unknown = verbs::VerbsTransport::open(1, options);
  ASSERT_TRUE(unknown) << unknown.message();
  uint64_t own = (*unknown)->capabilities().inOrderBytes;
  EXPECT_TRUE(own == 0 || own == UINT64_MAX);
  options.inOrderBytes = 64;
  auto given = verbs::VerbsTransport::open(1, options);
  ASSERT_TRUE(given) << given.message();
  EXPECT_EQ((*given)->capabilities().inOrderBytes, std::max<uint64_t>(own, 64));
}

ibv_gid gidAt(const char *text) {
  ibv_gid gid;
  Address address = *readAddress(text);
  std::copy(address.bytes.begin(), address.bytes.end(), gid.raw);
  return gid;
}

TEST(Devices, areNeighborsInOneNetwork) {
  std::vector<OwnInterface> own{{{*readAddress("10.0.0.1"), 120}, "eth0"},
                                {{*readAddress("fd00::1"), 64}, "eth0"}};
  auto are = [&](const char *one, const char *other, bool isEthernet = true) {
    return verbs::areNeighbors(gidAt(one), gidAt(other), isEthernet, own);
  };
  EXPECT_TRUE(are("10.0.0.1", "10.0.0.2"));
  EXPECT_FALSE(are("10.0.0.1", "10.0.1.2"));
  EXPECT_TRUE(are("fd00::1", "fd00::ff:2"));
  EXPECT_FALSE(are("fe80::1", "fe80::2")) << "each may be a cable of its own";
  EXPECT_TRUE(are("fec0::1", "fec0::2", false));
  EXPECT_FALSE(are("fe80::1", "fe80::2", false)) << "the subnets have no numbers";
  EXPECT_FALSE(are("fe80::1", "fec0::2", false));
}

// Numbers of requests wrap around, and their places with them.
TEST(SendQueue, holdsAPowerOfTwo) {
  verbs::SendQueue queue(0, 48);
  EXPECT_TRUE(queue.fits(32, 1));
  EXPECT_FALSE(queue.fits(33, 1));
  EXPECT_TRUE(verbs::SendQueue(0, 64).fits(verbs::SendQueue::kMaxRequests, 1));
}

// As tests/rdma/more-devices makes them.
TEST(Devices, areSharedOutIfTheyAreUpAndInOneNetwork) {
  int count = 0;
  if (!verbs::Library::load())
    GTEST_SKIP() << "no libibverbs";
  ibv_device **list = verbs::Library::get().get_device_list(&count);
  if (count != 4)
    GTEST_SKIP() << count << " RDMA devices in place of 4";
  verbs::Options options;
  auto first = [&](uint32_t ranks) {
    options.boundThreads = std::make_shared<const std::vector<Threads>>(ranks, Threads{0});
    auto order = verbs::inOrder({list, 4}, options);
    EXPECT_EQ(order.size(), 4u) << "all are tried";
    return std::string(verbs::Library::get().get_device_name(order.at(0)));
  };
  std::set<std::string> taken{first(1), first(2)};
  EXPECT_EQ(taken, (std::set<std::string>{"rxe0", "rxe1"}));
  EXPECT_EQ(first(3), first(1));
  options.device = "rxe2";
  EXPECT_EQ(verbs::inOrder({list, 4}, options), (std::vector<ibv_device *>{list[2]}));
  verbs::Library::get().free_device_list(list);
}

// Longer than the longest message of the device: one write is several requests.
TEST_F(Verbs, theLongestMessagesAreParted) {
  NetworkPair pair(with({}));
  ASSERT_EQ(pair.trouble, "");
  EXPECT_EQ(pair.exchange({9 << 20, 100}, 1), "");
  Transfer reads;
  reads.mover = Mover::Reader;
  EXPECT_EQ(pair.exchange({9 << 20}, 1, {}, reads), "");
}

// An endpoint of another job knows where a rank is, but not its token: it comes to no connection.
TEST_F(Verbs, strangersAreSentAway) {
  NetworkPair pair(with({}));
  ASSERT_EQ(pair.trouble, "");
  verbs::Options hasty;
  hasty.linger = 0ns;
  auto other =
      protocol::NetworkEndpoint::make(Rank{1}, 2, hasty, verbs::VerbsTransport::open(2, hasty));
  ASSERT_TRUE(other.ok()) << other.message();
  network::RankAddress forged = pair.endpoints[0]->rankAddress();
  forged.token ^= 1;
  ASSERT_TRUE((*other)->start([&](Rank) -> Result<network::RankAddress> { return forged; }).ok());
  (*other)->refuse("no job of yours");
  EXPECT_EQ(pair.exchange({100, 100000}, 3), "");
  auto until = std::chrono::steady_clock::now() + 5s;
  while (pair.endpoints[0]->numRefused() == 0 && std::chrono::steady_clock::now() < until)
    EXPECT_EQ(pair.exchange({8}, 1), "");
  EXPECT_GT(pair.endpoints[0]->numRefused(), 0u);
}

TEST_F(Verbs, aKilledRankIsNoticedByAll) {
  expectThatKilledRanksAreNoticed([](shm::World &world, Rank r) {
    return protocol::attach(world, r, verbs::Options(),
                            verbs::open(world.numRanks(), verbs::Options()));
  });
}

// What a rank posts.
class CountingCalls : public verbs::Calls {
public:
  std::atomic<uint32_t> posts{0}, requests{0}, told{0}, writes{0};
  std::atomic<uint32_t> datagrams{0}; ///< which are none of these
  void restart() { posts = requests = told = 0; }

  int postSend(ibv_qp *pair, ibv_send_wr *first, ibv_send_wr **refused) override {
    bool isDatagram = pair->qp_type == IBV_QPT_UD;
    datagrams += isDatagram;
    posts += !isDatagram;
    for (ibv_send_wr *request = first; request && !isDatagram; request = request->next) {
      ++requests;
      writes +=
          request->opcode == IBV_WR_RDMA_WRITE || request->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
      told += (request->send_flags & IBV_SEND_SIGNALED) != 0;
    }
    return Calls::postSend(pair, first, refused);
  }
};

// Three datagrams for each peer of a plan, and none before: no rank makes connections for the plans
// of others.
TEST_F(Verbs, connectionsAreMadeOnDemand) {
  if (isIwarp())
    GTEST_SKIP() << "iWARP has no datagrams";
  CountingCalls calls;
  NetworkPair pair(with({}, calls));
  ASSERT_EQ(pair.trouble, "");
  EXPECT_EQ(calls.datagrams, 0u);
  EXPECT_EQ(pair.exchange({8, 100}, 3), "");
  uint32_t asked = calls.datagrams;
  EXPECT_GE(asked, 3u);
  EXPECT_LE(asked, 8u); // both may ask, and ask again
  EXPECT_EQ(pair.exchange({8, 200000}, 3), "");
  EXPECT_EQ(calls.datagrams, asked);
}

// More frames are promised than are said.
verbs::Options withoutNotes() {
  verbs::Options options;
  options.framesPerPeer = 32;
  return options;
}

TEST_F(Verbs, operationsThatStartTogetherAreOneChain) {
  CountingCalls calls;
  NetworkPair pair(with(withoutNotes(), calls));
  ASSERT_EQ(pair.trouble, "");
  ASSERT_EQ(pair.exchange({8}, 1), ""); // they are connected
  calls.restart();
  pair.holds = true;
  // At the end both close the plan.
  EXPECT_EQ(pair.exchange({8, 100, 5000, 20, 30000}, 1), "");
  EXPECT_EQ(calls.posts, 2u + 2u);
  EXPECT_EQ(calls.requests, 2 * 5u + 2u);
  EXPECT_EQ(calls.told, 2u + 2u);
}

// What the other wrote is told once, and so is that it is written.
TEST_F(Verbs, piecesOfAMessageAreOneChain) {
  CountingCalls calls;
  NetworkPair pair(with(withoutNotes(), calls));
  ASSERT_EQ(pair.trouble, "");
  ASSERT_EQ(pair.exchange({8}, 1), "");
  pair.pieces = 7;
  calls.restart();
  EXPECT_EQ(pair.exchange({200000}, 1), "");
  // Request, place, a write into seven pieces, whose immediate data is a request of its own over
  // iWARP; closed.
  EXPECT_EQ(calls.posts, 2 * 4u);
  EXPECT_EQ(calls.requests, 2 * (3u + 7u + isIwarp()));
  EXPECT_EQ(calls.told, 2 * 4u);
}

// Rank 0 receives into seven pieces, and rank 1 writes into two at most: that message comes in
// parts, also if rank 0 names them before it is asked; the other one is written.
TEST_F(Verbs, placesThatAreTooManyForTheWriterComeInParts) {
  std::array<CountingCalls, 2> calls;
  NetworkPair pair([&](Rank r) {
    verbs::Options options;
    if (r == Rank{1})
      options.sendsPerPeer = 8;
    return protocol::NetworkEndpoint::make(
        r, 2, options, verbs::VerbsTransport::open(2, options, calls[index(r)]));
  });
  ASSERT_EQ(pair.trouble, "");
  pair.pieces = 7;
  Transfer announced;
  announced.protocol = Protocol::Static;
  for (const Transfer &way : {Transfer(), announced})
    EXPECT_EQ(pair.exchange({200000}, 3, {}, way), "");
  EXPECT_EQ(calls[1].writes, 0u);
  pair.pieces = 2;
  EXPECT_EQ(pair.exchange({200000}, 3), "");
  EXPECT_GE(calls[1].writes, 2u);
}

// A receive that was posted first last time says where it wants its message before it is asked. Of
// two that send at once one does so before it knows.
TEST_F(Verbs, earlyRtrsAreSentOnceTheyHelp) {
  CountingCalls calls;
  NetworkPair pair(with({}, calls));
  ASSERT_EQ(pair.trouble, "");
  ASSERT_EQ(pair.exchange({200000}, 1), "");
  calls.restart();
  EXPECT_EQ(pair.exchange({200000}, 10), "");
  EXPECT_LT(calls.posts, 10 * (2 + 3 + 1u)); // else each says three things in each run
}

// There is memory for so many long frames, and no more.
class ThriftyCalls : public verbs::Calls {
public:
  std::atomic<uint32_t> refused{0};

  ibv_mr *registerMemory(ibv_pd *domain, const iovec &memory, int access) override {
    bool areFrames = access == 0 && memory.iov_len > 4 * (64 << 10);
    if (!areFrames || ++asked_ <= 2)
      return Calls::registerMemory(domain, memory, access);
    ++refused;
    errno = ENOMEM;
    return nullptr;
  }

private:
  std::atomic<uint32_t> asked_{0};
};

// What is too much to be said at once is asked about.
TEST_F(Verbs, framesMayRunShort) {
  ThriftyCalls calls;
  verbs::Options wide;
  wide.windowBytes = 4 << 20;
  NetworkPair pair(with(wide, calls));
  ASSERT_EQ(pair.trouble, "");
  EXPECT_EQ(pair.exchange(std::vector<uint64_t>(20, 60000), 2), "");
  EXPECT_GT(calls.refused, 0u);
}

// A transport alone, and what it tells.
class End : public network::TransportHandler {
public:
  explicit End(verbs::Calls &calls = verbs::Calls::real(), const verbs::Options &options = {})
      : transport(verbs::VerbsTransport::open(2, options, calls).take()) {}

  network::RankAddress rankAddress() const {
    network::RankAddress rankAddress;
    std::vector<std::byte> address = transport->address().take();
    rankAddress.addressBytes = static_cast<uint16_t>(address.size());
    std::copy(address.begin(), address.end(), rankAddress.address.begin());
    return rankAddress;
  }

  // Both in one process.
  void connect(Rank self, const End &other) { connect(self, other.rankAddress()); }
  void connect(Rank self, const network::RankAddress &rankAddress) {
    peer.rank = Rank{1 - index(self)};
    peer.token = 10 + index(peer.rank);
    ASSERT_TRUE(transport->start(*this, {self, 10 + index(self), 1024}).ok());
    ASSERT_TRUE(transport->reach(peer, rankAddress).ok());
  }

  void onBytes(std::span<const std::byte>) override { ++received; }
  void onDone(network::Operation &) override { ++done; }
  void onFailed(network::Operation &operation, const std::string &) override {
    failed.push_back(&operation);
  }
  void onRemoteWrite(uint32_t) override {}
  void onLost(network::Peer &lost, const std::string &reason) override {
    lost.isLost = true;
    why = reason;
  }
  void onBroken(const std::string &reason) override { ADD_FAILURE() << reason; }
  network::Peer *onConnectRequest(Rank) override { return &peer; }
  void onNeglected() override {}

  std::unique_ptr<network::Transport> transport;
  network::Peer peer;
  uint32_t received = 0, done = 0;
  std::string why; ///< the peer was lost
  std::vector<network::Operation *> failed;
};

constexpr std::array<std::byte, 40> kSaid = {};

// They look, in turns, until it is so; false: that takes too long.
bool comes(std::initializer_list<End *> ends, const std::function<bool()> &isSo,
           std::chrono::milliseconds most = 5s) {
  auto until = std::chrono::steady_clock::now() + most;
  while (!isSo() && std::chrono::steady_clock::now() < until)
    for (End *end : ends)
      end->transport->poll();
  return isSo();
}

// A call waits at the peer's machine, which the peer has not polled.
void call(End &from) {
  ASSERT_EQ(from.transport->inject(from.peer, kSaid), network::PostResult::NoResource);
  EXPECT_FALSE(comes(
      {&from}, [] { return false; }, 200ms));
}

// The k-th receive finds no room.
class CrampedCalls : public verbs::Calls {
public:
  explicit CrampedCalls(uint32_t at) : at_(at) {}
  int postReceive(ibv_qp *pair, ibv_recv_wr *one) override {
    return ++calls_ == at_ ? ENOMEM : Calls::postReceive(pair, one);
  }

private:
  uint32_t at_, calls_ = 0;
};

// A call of which nothing comes leaves completions behind, for a queue pair with the next one's
// number; and a receive that was not posted, and cannot be any more. 0: all are.
void answerTheSecondTime(uint32_t refused) {
  CrampedCalls calls(refused);
  End here(calls), last;
  here.connect(Rank{0}, last);
  last.connect(Rank{1}, here);
  std::array<End, 2> stale; // a kernel gives up no call before it is answered, or late
  for (End &early : stale) {
    early.connect(Rank{1}, here);
    call(early);
  }
  call(last);
  for (uint32_t i = 0; i < 40; ++i) {
    ASSERT_TRUE(comes({&here, &last}, [&] {
      return last.transport->inject(last.peer, kSaid) == network::PostResult::Ok;
    })) << i;
    ASSERT_TRUE(comes({&here, &last}, [&] { return here.received > i; })) << i;
  }
  EXPECT_EQ(here.why + last.why, "");
  EXPECT_EQ(here.transport->bytes(), last.transport->bytes()) << "for calls before";
  here.transport->stop();
  last.transport->stop();
}

TEST_F(Verbs, theSecondConnectRequestIsAnswered) {
  if (!isIwarp())
    GTEST_SKIP() << "only iWARP has calls";
  for (uint32_t refused : {0, 3, 13, 23})
    answerTheSecondTime(refused);
}

// All may come to have receives.
TEST_F(Verbs, theQueueHasRoomForAllPeers) {
  if (!isIwarp())
    GTEST_SKIP() << "elsewhere all share receives";
  verbs::Options options;
  int alone = (*verbs::Device::open(options))->queue()->cqe;
  EXPECT_GE((*verbs::Device::open(options, 1001))->queue()->cqe, alone + 1000 * 10);
  options.completions = 20;
  EXPECT_NE(
      protocol::NetworkEndpoint::make(Rank{0}, 1, options, verbs::VerbsTransport::open(1, options))
          .message()
          .find("is too short"),
      std::string::npos);
}

// It may listen again, or call; that it has died others notice.
TEST_F(Verbs, aPeerThatDoesNotListenIsCalledAgain) {
  if (!isIwarp())
    GTEST_SKIP() << "only iWARP has calls";
  network::RankAddress rankAddress = End().rankAddress();
  End here;
  here.connect(Rank{0}, rankAddress);
  call(here);
  EXPECT_EQ(here.why, "");
  here.transport->stop();
}

// Its machine may only be starting.
TEST_F(Verbs, anUnreachablePeerIsCalledUntilTheSilenceTimeout) {
  if (!isIwarp())
    GTEST_SKIP() << "only iWARP has calls";
  verbs::Options options;
  options.silence = 1s;
  End here(verbs::Calls::real(), options);
  network::RankAddress rankAddress = here.rankAddress();
  rankAddress.address[15] = std::byte{77}; // of no rank
  here.connect(Rank{0}, rankAddress);
  ASSERT_EQ(here.transport->inject(here.peer, kSaid), network::PostResult::NoResource);
  std::this_thread::sleep_for(4s); // it computes
  here.transport->poll();
  EXPECT_FALSE(here.peer.isLost) << "after one call";
  EXPECT_TRUE(comes(
      {&here}, [&] { return here.peer.isLost; }, 15s));
  EXPECT_NE(here.why.find("cannot find a way to a peer"), std::string::npos) << here.why;
  here.transport->stop();
}

// Calls of librdmacm fail, from the k-th of a kind on, so many.
class MuteCalls : public verbs::Calls {
public:
  uint64_t listens = 0, connects = 0, accepts = 0, events = 0; ///< that still fail
  uint64_t spared = 0;                                         ///< calls before
  bool takesNothing = false;                                   ///< greetings say so

  int listen(rdma_cm_id *id, int backlog) override {
    return fails(listens) ? -1 : Calls::listen(id, backlog);
  }
  int connect(rdma_cm_id *id, rdma_conn_param *terms) override {
    return fails(connects) ? -1 : Calls::connect(id, terms);
  }
  int accept(rdma_cm_id *id, rdma_conn_param *terms) override {
    std::array<std::byte, 16> greeting = {};
    if (takesNothing) {
      EXPECT_EQ(terms->private_data_len, greeting.size());
      std::memcpy(greeting.data(), terms->private_data, 12); // the last 4: frames
      terms->private_data = greeting.data();
    }
    return fails(accepts) ? -1 : Calls::accept(id, terms);
  }
  int nextEvent(rdma_event_channel *channel, rdma_cm_event **event) override {
    return fails(events) ? -1 : Calls::nextEvent(channel, event);
  }

private:
  bool fails(uint64_t &left) {
    if (left == 0 || (spared > 0 && spared-- > 0))
      return false;
    --left;
    errno = EIO;
    return true;
  }
};

class Calling : public Verbs {
protected:
  void SetUp() override {
    Verbs::SetUp();
    if (!IsSkipped() && !isIwarp())
      GTEST_SKIP() << "only iWARP has calls";
    options_.linger = 100ms;
    options_.silence = 1s;
  }
  std::string exchange() {
    NetworkPair pair(with(options_, calls_));
    return pair.trouble.empty() ? pair.exchange({8, 100000}, 3) : pair.trouble;
  }
  verbs::Options options_;
  MuteCalls calls_;
};

TEST_F(Calling, aFailureToListenNamesTheAddress) {
  calls_.listens = ~0ull;
  EXPECT_NE(exchange().find("it cannot be called: cannot listen at "), std::string::npos);
}

TEST_F(Calling, callsAreMadeAgain) {
  calls_.connects = 2;
  EXPECT_EQ(exchange(), "");
  calls_.accepts = 1;
  EXPECT_EQ(exchange(), "");
  EXPECT_EQ(calls_.connects + calls_.accepts, 0u);
}

TEST_F(Calling, aFailedCallLosesThePeer) {
  calls_.connects = ~0ull;
  std::string trouble = exchange();
  EXPECT_NE(trouble.find("cannot call a peer"), std::string::npos) << trouble;
}

// Both say which, whenever it is.
TEST_F(Calling, aConnectionWithoutEventsFails) {
  for (uint64_t spared : {0, 3, 7}) {
    calls_.spared = spared;
    calls_.events = ~0ull;
    std::string trouble = exchange();
    EXPECT_NE(trouble.find("cannot hear of connections"), std::string::npos) << trouble;
  }
}

TEST_F(Calling, aPeerWithoutRoomForFramesIsRefused) {
  calls_.takesNothing = true;
  End here, there(calls_);
  here.connect(Rank{1}, there);
  there.connect(Rank{0}, here);
  ASSERT_EQ(here.transport->inject(here.peer, kSaid), network::PostResult::NoResource);
  EXPECT_TRUE(comes({&here, &there}, [&] { return here.peer.isLost; }));
  EXPECT_NE(here.why.find("it takes no frames"), std::string::npos) << here.why;
  here.transport->stop();
  there.transport->stop();
}

// From some time on nothing can be sent.
class DeafCalls : public verbs::Calls {
public:
  bool isDeaf = false;
  int postSend(ibv_qp *pair, ibv_send_wr *first, ibv_send_wr **refused) override {
    if (!isDeaf)
      return Calls::postSend(pair, first, refused);
    *refused = first;
    return EIO;
  }
};

// Else memory would be in use for ever, and its owner would wait for it.
TEST_F(Verbs, cancelledOperationsAreReported) {
  DeafCalls calls;
  End here(calls), there(verbs::Calls::real());
  here.connect(Rank{0}, there);
  there.connect(Rank{1}, here);
  network::FramePool pool(*here.transport, 64, 4, network::Access::Send);
  auto said = [&] {
    network::Frame &frame = *pool.take();
    frame.kind = network::Operation::Kind::Send;
    frame.bytes = 40;
    return &frame;
  };
  auto until = std::chrono::steady_clock::now() + 5s;
  network::Frame *first = said();
  while (here.transport->send(here.peer, *first) == network::PostResult::NoResource) {
    ASSERT_LT(std::chrono::steady_clock::now(), until);
    here.transport->poll();
    there.transport->poll();
  }
  while (here.done == 0 || there.received == 0) {
    ASSERT_LT(std::chrono::steady_clock::now(), until);
    here.transport->poll();
    there.transport->poll();
  }
  calls.isDeaf = true;
  here.transport->hold();
  network::Frame *frame = said();
  network::RmaOperation rma;
  rma.peer = &here.peer;
  network::RmaSpec spec;
  spec.count = 1;
  spec.pieces[0] = {frame->data, 8};
  spec.descriptors[0] = frame->descriptor;
  spec.bytes = 8;
  EXPECT_EQ(here.transport->send(here.peer, *frame), network::PostResult::Ok);
  EXPECT_EQ(here.transport->write(rma, spec), network::PostResult::Ok);
  here.transport->push();
  EXPECT_TRUE(here.failed.empty());
  EXPECT_FALSE(here.transport->ifIdle());
  here.transport->poll();
  EXPECT_EQ(here.failed, (std::vector<network::Operation *>{frame, &rma}));
  EXPECT_TRUE(here.peer.isLost);
  EXPECT_TRUE(here.transport->isIdle(here.peer));
  here.transport->stop();
  there.transport->stop();
}

} // namespace
} // namespace colldsl::test
