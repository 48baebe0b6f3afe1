// Reads and writes that have not ended when their plan is cancelled: the peer does not look, so the
// provider cannot end them, and the memory is used again. Nothing moves later.
#include "tests/transports/NetworkPair.h"
#include "transports/ofi/OfiTransport.h"
#include "transports/ofi/OpenOfi.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <thread>

namespace colldsl::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// Two ranks with a plan of one long message, from rank 0 to rank 1 or back, and another plan by
/// which they go on to look. Only the rank that is told to polls.
class Unfinished {
public:
  static constexpr size_t kBytes = 64 << 20; // more than sockets hold

  Unfinished(const std::string &provider, Rank sender, const Transfer &way)
      : pair([&](Rank r) {
          return protocol::NetworkEndpoint::make(r, 2, options(provider),
                                                 ofi::OfiTransport::open(options(provider)));
        }) {
    EXPECT_EQ(pair.trouble, "");
    for (uint32_t r = 0; r < 2; ++r) {
      std::vector<EdgeSpec> edge = {{Rank{1 - r}, {makeMessageId(3, 0)}, {way}}};
      bool sends = Rank{r} == sender;
      auto plan = pair.endpoints[r]->open(sends ? OpenRequest{edge, {}} : OpenRequest{{}, edge});
      auto other = pair.endpoints[r]->open({edge, edge});
      EXPECT_TRUE(plan.ok() && other.ok());
      plans[r] = plan.take();
      others[r] = other.take();
      plans[r]->start();
    }
    EXPECT_EQ(pair.exchange({8}, 1), ""); // connected
  }
  static ofi::Options options(const std::string &provider) {
    ofi::Options options;
    options.provider = provider;
    options.linger = options.lingerAfterFailure = 100ms;
    return options;
  }
  Posted send(uint32_t rank) { return plans[rank]->send({0, 0}, OpId{0}, payloadOf(sent)); }
  Posted recv(uint32_t rank) { return plans[rank]->recv({0, 0}, OpId{0}, payloadOf(received)); }
  void poll(uint32_t rank, int times = 100) {
    for (int i = 0; i < times; ++i, std::this_thread::sleep_for(100us))
      others[rank]->poll();
  }
  void cancel(uint32_t rank) {
    plans[rank]->abort({kNoRank, kNoOp, "not needed"});
    plans[rank]->cancel();
  }

  std::vector<std::byte> from = std::vector<std::byte>(kBytes, std::byte{1});
  std::vector<std::byte> to = std::vector<std::byte>(kBytes);
  NetworkPair pair;
  std::unique_ptr<Channels> plans[2], others[2];

private:
  static Payload payloadOf(const iovec &piece) { return {&piece, 1, true, false, kBytes}; }
  iovec sent = {from.data(), kBytes}, received = {to.data(), kBytes};
};

class OfiCancel : public ::testing::TestWithParam<std::string> {
protected:
  // Which providers there are differs between versions of libfabric; any other trouble is a
  // failure.
  void SetUp() override {
    auto endpoint =
        protocol::NetworkEndpoint::make(Rank{0}, 1, Unfinished::options(GetParam()),
                                        ofi::OfiTransport::open(Unfinished::options(GetParam())));
    if (!endpoint && endpoint.message().find("has no provider") != std::string::npos)
      GTEST_SKIP() << endpoint.message();
  }
  /// The rank fails, while both look, and does not end its receive.
  static void expectNothingReceived(Unfinished &given, uint32_t rank) {
    size_t done = 0;
    for (auto until = Clock::now() + 10s;
         done == 0 && given.plans[rank]->check() && Clock::now() < until; given.poll(1 - rank, 1))
      done += given.plans[rank]->poll().size();
    EXPECT_EQ(done, 0u) << "a message of reused memory was received";
    EXPECT_TRUE(given.plans[rank]->failed());
  }
};

TEST_P(OfiCancel, aCancelledWriteMovesNoByteLater) {
  Transfer way;
  way.protocol = Protocol::Static; // the receiver says where it wants the message
  Unfinished given(GetParam(), Rank{1}, way);
  ASSERT_EQ(given.recv(0), Posted::Pending);
  given.poll(0);
  given.poll(1);
  ASSERT_EQ(given.send(1), Posted::Pending);
  given.poll(1);
  given.cancel(1);
  std::fill(given.from.begin(), given.from.end(), std::byte{2});
  expectNothingReceived(given, 0);
}

TEST_P(OfiCancel, aCancelledReadMovesNoByteLater) {
  Transfer way;
  way.mover = Mover::Reader;
  Unfinished given(GetParam(), Rank{0}, way);
  ASSERT_EQ(given.send(0), Posted::Pending);
  given.poll(0);
  ASSERT_EQ(given.recv(1), Posted::Pending);
  given.poll(1);
  given.cancel(1);
  std::fill(given.to.begin(), given.to.end(), std::byte{9});
  for (int i = 0; i < 1000; ++i) {
    given.poll(0, 1);
    given.poll(1, 1);
  }
  EXPECT_EQ(std::count(given.to.begin(), given.to.end(), std::byte{9}),
            static_cast<ptrdiff_t>(Unfinished::kBytes));
}

// The receiver's read was begun before the sender cancelled, and ends long after.
TEST_P(OfiCancel, aReadOfReusedMemoryIsNotReceived) {
  Transfer way;
  way.mover = Mover::Reader;
  Unfinished given(GetParam(), Rank{0}, way);
  ASSERT_EQ(given.send(0), Posted::Pending);
  given.poll(0);
  ASSERT_EQ(given.recv(1), Posted::Pending);
  given.poll(1, 10);
  given.poll(0, 20);
  given.cancel(0);
  std::fill(given.from.begin(), given.from.end(), std::byte{2});
  expectNothingReceived(given, 1);
}

// Not all providers let a descriptor show events alone: one that is readable without any would keep
// the rank from giving its core to the peer that is to answer.
TEST_P(OfiCancel, aRankWaitsForNoDescriptorThatIsReadable) {
  Unfinished given(GetParam(), Rank{0}, {});
  given.poll(0);
  protocol::RemoteWorker &worker = given.pair.endpoints[0]->worker();
  std::optional<network::Transport::Wait> wait;
  for (int i = 0; i < 1000; ++i) {
    given.poll(0, 1);
    if (!(wait = worker.wakeup()))
      continue;
    pollfd file = {wait->file, POLLIN, 0};
    ASSERT_EQ(::poll(&file, 1, 0), 0) << "in wait " << i;
  }
  ASSERT_TRUE(wait.has_value());
  EXPECT_GT(wait->atMost, 0ns) << "it still polls without a nap";
}

INSTANTIATE_TEST_SUITE_P(Providers, OfiCancel, ::testing::Values("tcp", "net"),
                         [](const auto &info) { return info.param; });

} // namespace
} // namespace colldsl::test
