// Connections over TCP: how they are made, come to an end, and carry what is sent.
#include "transports/network/ActiveMessages.h"
#include "transports/tcp/TcpTransport.h"
#include "wireup/Interfaces.h"

#include <array>
#include <cstring>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <unistd.h>

namespace colldsl::test {
namespace {

using tcp::ItemHead;
using tcp::ItemKind;
using tcp::TcpTransport;
using tcp::WriteHead;

constexpr uint64_t kToken = 77;

/// A TcpTransport of one rank with a handler that records what arrives; its one peer is reached
/// before the first frame.
class End : public network::TransportHandler {
public:
  std::unique_ptr<TcpTransport> transport;
  network::Peer peer;
  std::vector<std::string> received;
  std::vector<uint32_t> written;
  std::vector<std::string> failed, lost;
  uint32_t done = 0;

  network::PostResult send(const std::string &text) {
    texts_.push_back(text);
    network::Frame &frame = frames_.emplace_back();
    frame.kind = network::Operation::Kind::Send;
    frame.data = reinterpret_cast<std::byte *>(texts_.back().data());
    frame.bytes = static_cast<uint32_t>(texts_.back().size());
    return transport->send(peer, frame);
  }

  void onBytes(std::span<const std::byte> bytes) override {
    received.emplace_back(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  }
  void onDone(network::Operation &) override { ++done; }
  void onFailed(network::Operation &, const std::string &reason) override {
    failed.push_back(reason);
  }
  void onRemoteWrite(uint32_t immediate) override { written.push_back(immediate); }
  void onLost(network::Peer &, const std::string &reason) override { lost.push_back(reason); }
  void onBroken(const std::string &reason) override { lost.push_back(reason); }
  network::Peer *onConnectRequest(Rank from) override {
    return from == peer.rank ? &peer : nullptr;
  }
  void onNeglected() override {}

private:
  std::deque<std::string> texts_;
  std::deque<network::Frame> frames_;
};

class Tcp : public ::testing::Test {
protected:
  void SetUp() override {
    for (uint32_t r = 0; r < 2; ++r) {
      auto made = TcpTransport::open({});
      ASSERT_TRUE(made) << made.message();
      ends[r].transport = made.take();
      std::vector<std::byte> address = ends[r].transport->address().take();
      std::copy(address.begin(), address.end(), addresses[r].address.begin());
      addresses[r].addressBytes = static_cast<uint16_t>(address.size());
    }
    for (uint32_t r = 0; r < 2; ++r) {
      ends[r].peer.rank = Rank{1 - r};
      ends[r].peer.token = kToken + 1 - r;
      ASSERT_TRUE(ends[r].transport->start(ends[r], {Rank{r}, kToken + r, 1 << 10}));
      ASSERT_TRUE(ends[r].transport->reach(ends[r].peer, addresses[1 - r]));
    }
  }

  /// Polls both until the condition holds; false if it does not within some seconds.
  template <typename Condition> bool until(Condition holds) {
    for (int turn = 0; turn < 20'000; ++turn) {
      if (holds())
        return true;
      bool moved = false;
      for (End &end : ends)
        moved |= end.transport && end.transport->poll();
      if (!moved)
        usleep(100);
    }
    return false;
  }

  /// A connection to end 0 that no transport made.
  int connectTo0() {
    sockaddr_in name = {};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    constexpr size_t kPort = sizeof(Address);
    std::memcpy(&name.sin_port, &addresses[0].address[kPort], sizeof name.sin_port);
    int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(connect(file, reinterpret_cast<sockaddr *>(&name), sizeof name), 0);
    return file;
  }

  template <typename T> void say(int file, const T &what) {
    ASSERT_EQ(write(file, &what, sizeof what), ssize_t{sizeof what});
  }

  std::array<End, 2> ends;
  std::array<network::RankAddress, 2> addresses;
};

TEST_F(Tcp, answersGoTheWayOfTheQuestions) {
  ASSERT_EQ(ends[0].send("question"), network::PostResult::Ok);
  ASSERT_TRUE(until([&] { return ends[1].received.size() == 1; }));
  ASSERT_EQ(ends[1].send("answer"), network::PostResult::Ok);
  ASSERT_TRUE(
      until([&] { return ends[0].received.size() == 1 && ends[0].done + ends[1].done == 2; }));
  EXPECT_EQ(ends[0].transport->numConnections(), 1u);
  EXPECT_EQ(ends[1].transport->numConnections(), 1u);
}

TEST_F(Tcp, bothMayConnectAtOnce) {
  std::vector<std::string> all;
  for (int i = 0; i < 100; ++i) {
    all.push_back(std::string(static_cast<size_t>(i * 10), static_cast<char>('a' + i % 26)));
    for (End &end : ends)
      ASSERT_EQ(end.send(all.back()), network::PostResult::Ok);
  }
  ASSERT_TRUE(until([&] { return ends[0].received.size() + ends[1].received.size() == 200; }));
  EXPECT_EQ(ends[0].received, all);
  EXPECT_EQ(ends[1].received, all);
  EXPECT_EQ(ends[0].transport->numConnections(), 2u);
}

// The descriptor becomes readable when a frame comes, and not before.
TEST_F(Tcp, eventsEndASleep) {
  ends[0].send("first");
  ASSERT_TRUE(until([&] { return ends[1].received.size() == 1 && ends[0].done == 1; }));
  auto wait = ends[1].transport->ifIdle();
  ASSERT_TRUE(wait);
  EXPECT_EQ(wait->atMost, std::chrono::nanoseconds::max());
  pollfd file = {wait->file, POLLIN, 0};
  EXPECT_EQ(poll(&file, 1, 0), 0);
  ends[0].send("second");
  EXPECT_EQ(poll(&file, 1, 5000), 1);
  EXPECT_FALSE(ends[0].transport->ifIdle()) << "the send is to be reported";
}

TEST_F(Tcp, strangersAreRefused) {
  int wrongToken = connectTo0(), wrongRank = connectTo0();
  say(wrongToken, tcp::Hello{kToken + 5, Rank{1}});
  say(wrongRank, tcp::Hello{kToken, Rank{9}});
  ASSERT_TRUE(until([&] { return ends[0].transport->numRefused() == 2; }));
  char none;
  EXPECT_LE(read(wrongToken, &none, 1), 0);
  EXPECT_LE(read(wrongRank, &none, 1), 0);
  close(wrongToken);
  close(wrongRank);
  ends[1].send("friend");
  ASSERT_TRUE(until([&] { return ends[0].received.size() == 1; }));
  EXPECT_TRUE(ends[0].lost.empty());
}

TEST_F(Tcp, whatIsNoFrameLosesThePeer) {
  int file = connectTo0();
  say(file, tcp::Hello{kToken, Rank{1}});
  say(file, ItemHead{.frameBytes = 1 << 20});
  ASSERT_TRUE(until([&] { return ends[0].lost.size() == 1; }));
  EXPECT_EQ(ends[0].lost[0], "it sent bytes that are no frame");
  close(file);
}

// Ranks leave at different times; in the middle of a frame they do not.
TEST_F(Tcp, anEndBetweenFramesIsNoLoss) {
  for (bool isWithin : {false, true}) {
    int file = connectTo0();
    say(file, tcp::Hello{kToken, Rank{1}});
    if (isWithin)
      say(file, ItemHead{.frameBytes = 100});
    ASSERT_TRUE(until([&] { return ends[0].transport->numConnections() == 1; }));
    close(file);
    ASSERT_TRUE(until([&] { return ends[0].transport->numConnections() == 0; }));
    EXPECT_EQ(ends[0].lost.size(), isWithin ? 1u : 0u);
  }
  EXPECT_EQ(ends[0].send("too late"), network::PostResult::Error);
  EXPECT_EQ(ends[0].transport->reason(), "it closed the connection");
}

TEST_F(Tcp, framesToAPeerThatIsGoneFail) {
  ends[1].transport->stop();
  ends[1].transport.reset();
  ASSERT_EQ(ends[0].send("in vain"), network::PostResult::Ok);
  ASSERT_TRUE(until([&] { return ends[0].lost.size() == 1; }));
  EXPECT_EQ(ends[0].failed, std::vector<std::string>{"Connection refused"});
  EXPECT_EQ(ends[0].lost[0], "Connection refused");
}

/// Writes all bytes of `from` to `to`, which end 1 has registered.
network::RmaSpec writeOf(std::vector<char> &from, const std::vector<char> &to, uint64_t key) {
  network::RmaSpec spec;
  spec.pieces[0] = {from.data(), from.size() / 2};
  spec.pieces[1] = {from.data() + from.size() / 2, from.size() - from.size() / 2};
  spec.count = 2;
  spec.address = reinterpret_cast<uint64_t>(to.data());
  spec.key = key;
  spec.bytes = from.size();
  spec.immediate = 5;
  return spec;
}

TEST_F(Tcp, writesComeWhereTheyBelong) {
  std::vector<char> from(3 << 20, 'x'), to(from.size());
  iovec memory = {to.data(), to.size()};
  auto region = ends[1].transport->registerMemory({&memory, 1}, network::Access::RemoteWrite);
  ASSERT_TRUE(region);
  network::RmaOperation rma, silent;
  rma.peer = silent.peer = &ends[0].peer;
  network::RmaSpec spec = writeOf(from, to, region->key());
  ASSERT_EQ(ends[0].transport->write(rma, spec), network::PostResult::Ok);
  ends[0].send("behind");
  ASSERT_TRUE(until([&] { return ends[1].received.size() == 1 && ends[0].done == 2; }));
  EXPECT_EQ(to, from);
  EXPECT_EQ(ends[1].written, std::vector<uint32_t>{5});
  spec.isSilent = true;
  ASSERT_EQ(ends[0].transport->write(silent, spec), network::PostResult::Ok);
  ends[0].send("behind");
  ASSERT_TRUE(until([&] { return ends[1].received.size() == 2; }));
  EXPECT_EQ(ends[1].written.size(), 1u);
}

// The transport drops a write to memory that is not registered: one that ends behind a region, and
// one whose region is gone.
TEST_F(Tcp, writesThatBelongNowhereAreDropped) {
  std::vector<char> from(1 << 20, 'x'), to(from.size());
  iovec memory = {to.data(), to.size() - 1};
  auto region = ends[1].transport->registerMemory({&memory, 1}, network::Access::RemoteWrite);
  network::RmaOperation tooLong, late;
  tooLong.peer = late.peer = &ends[0].peer;
  network::RmaSpec spec = writeOf(from, to, region->key());
  ASSERT_EQ(ends[0].transport->write(tooLong, spec), network::PostResult::Ok);
  ends[0].send("behind");
  ASSERT_TRUE(until([&] { return ends[1].received.size() == 1; }));
  region->reset();
  spec.bytes = spec.pieces[0].iov_len;
  spec.count = 1;
  ASSERT_EQ(ends[0].transport->write(late, spec), network::PostResult::Ok);
  ends[0].send("behind");
  ASSERT_TRUE(until([&] { return ends[1].received.size() == 2; }));
  EXPECT_EQ(to, std::vector<char>(to.size()));
  EXPECT_TRUE(ends[1].written.empty());
  EXPECT_EQ(ends[1].transport->numRefused(), 2u);
}

} // namespace
} // namespace colldsl::test
