// A sender that has an early RTR, and finds that it cannot put: the receiver takes no notice of a
// request that its RTR fits, so the sender has to say that it wants something else.
#include "protocol/RemoteEndpoint.h"
#include "tests/explorer/ScriptedCarrier.h"

#include <gtest/gtest.h>

namespace colldsl::protocol {
namespace {

using test::ScriptedCarrier;
using test::ScriptedNetwork;

constexpr uint64_t kBytes = 16;

class Pair {
public:
  Pair() : network_([](uint32_t, const std::byte *, uint64_t, bool) {}) {
    network::Options options;
    options.eagerBytes = options.rmaThresholdBytes = 8;
    for (uint32_t r = 0; r < 2; ++r) {
      auto carrier = std::make_unique<ScriptedCarrier>(network_, r);
      carrier->refused = r == 0 ? test::maskOf(network::Access::Write) : 0;
      workers_[r] = RemoteWorker::make(Rank{r}, 2, options, std::move(carrier), nullptr).take();
      (void)workers_[r]->start(
          [](Rank) -> Result<network::RankAddress> { return network::RankAddress(); });
      endpoints_[r] =
          std::make_unique<RemoteEndpoint>(*workers_[r], RankGroup::ofAll(2, Rank{r}), nullptr);
      std::vector<EdgeSpec> edge{
          {Rank{1 - r}, {MessageId{0}}, {Transfer{.protocol = Protocol::Static}}}};
      channels[r] =
          endpoints_[r]->open(r == 0 ? OpenRequest{edge, {}} : OpenRequest{{}, edge}).take();
      channels[r]->start();
    }
  }
  // Peers that leave one after the other wait for each other.
  ~Pair() {
    for (uint32_t r = 0; r < 2; ++r) {
      channels[r].reset();
      workers_[r]->leaveTogether();
    }
  }

  void send() { channels[0]->send({0, 0}, OpId{1}, {&sent_, 1, true, false, kBytes}); }
  void recv() { channels[1]->recv({0, 0}, OpId{2}, {&got_, 1, true, false, kBytes}); }
  void pump() {
    for (int i = 0; i < 20; ++i)
      for (uint32_t r = 0; r < 2; ++r) {
        while (network_.numFrames(r, 1 - r) != 0)
          network_.arrive(r, 1 - r);
        network_.accept(r, true);
        done[1 - r] += channels[1 - r]->poll().size();
      }
  }

  std::vector<std::byte> from = std::vector<std::byte>(kBytes, std::byte{7});
  std::vector<std::byte> to = std::vector<std::byte>(kBytes);
  size_t done[2] = {};
  std::unique_ptr<Channels> channels[2];

private:
  iovec sent_ = {from.data(), kBytes}, got_ = {to.data(), kBytes};
  ScriptedNetwork network_;
  std::unique_ptr<RemoteWorker> workers_[2];
  std::unique_ptr<RemoteEndpoint> endpoints_[2];
};

TEST(EarlyRtr, ASenderThatCannotPutRequestsFragments) {
  Pair pair;
  pair.recv();
  pair.pump();
  pair.send();
  pair.pump();
  EXPECT_EQ(pair.done[0], 1u);
  EXPECT_EQ(pair.done[1], 1u);
  EXPECT_EQ(pair.to, pair.from);
}

TEST(EarlyRtr, ASenderThatCannotPutRepeatsItsEarlierRequest) {
  Pair pair;
  pair.recv();
  pair.send(); // the request and the RTR cross
  pair.pump();
  EXPECT_EQ(pair.done[0], 1u);
  EXPECT_EQ(pair.done[1], 1u);
  EXPECT_EQ(pair.to, pair.from);
}

} // namespace
} // namespace colldsl::protocol
