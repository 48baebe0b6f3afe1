/// A plan of one message from rank 0 to rank 1 over a scripted network.
#pragma once

#include "protocol/remote/RemoteEndpoint.h"
#include "tests/explorer/ScriptedTransport.h"

#include <cstring>
#include <map>

namespace colldsl::protocol::test {

using colldsl::test::ScriptedNetwork;
using colldsl::test::ScriptedTransport;

/// Ranks that plans are opened on.
class ScriptedPair {
public:
  static constexpr uint64_t kBytes = 16;

  /// `refused`: kinds of access that rank 0 registers no memory for.
  explicit ScriptedPair(uint8_t refused = 0, uint32_t longestEagerBytes = 8, bool pinsPages = false)
      : network_([](uint32_t, const std::byte *, uint64_t, bool) {}) {
    network::Options options;
    options.longestEagerBytes = options.rmaThresholdBytes = longestEagerBytes;
    for (uint32_t r = 0; r < 2; ++r) {
      auto transport = std::make_unique<ScriptedTransport>(network_, r);
      transport->refused = r == 0 ? refused : 0;
      if (pinsPages)
        transport->pinPages();
      transports_[r] = transport.get();
      workers_[r] = RemoteWorker::make(Rank{r}, 2, options, std::move(transport), nullptr).take();
      (void)workers_[r]->start(
          [](Rank) -> Result<network::RankAddress> { return network::RankAddress(); });
      endpoints_[r] =
          std::make_unique<RemoteEndpoint>(*workers_[r], RankGroup::ofAll(2, Rank{r}), nullptr);
    }
  }
  // Peers that leave one after the other wait for each other.
  ~ScriptedPair() {
    for (auto &worker : workers_)
      worker->leaveTogether();
  }

  RemoteEndpoint &endpoint(uint32_t rank) { return *endpoints_[rank]; }
  RemoteWorker &worker(uint32_t rank) { return *workers_[rank]; }
  ScriptedTransport &transport(uint32_t rank) { return *transports_[rank]; }

  /// Memory of the rank that the network knows.
  size_t numRegistered(uint32_t rank) const { return network_.numRegistered(rank); }

  /// All that is under way comes to its end.
  template <typename Poll> void pump(Poll poll) {
    for (int i = 0; i < 20; ++i) {
      for (uint32_t r = 0; r < 2; ++r) {
        while (network_.numFrames(r, 1 - r) != 0)
          arrive(r, 1 - r);
        network_.accept(r, true);
        poll(1 - r);
      }
      while (network_.numRmas() != 0)
        moveFirst();
    }
  }

  /// Those of the oldest put, of which no rank is notified yet.
  void moveBytes() { network_.moveBytes(0); }

  std::map<network::Kind, uint32_t> frames; ///< how many of each kind
  uint32_t puts = 0, notifications = 0;

private:
  void arrive(uint32_t from, uint32_t to) {
    network::Header header;
    std::memcpy(&header, network_.frame(from, to).data(), sizeof header);
    ++frames[header.kind];
    network_.arrive(from, to);
  }
  void moveFirst() {
    ++puts;
    if (network_.mayMoveBytes(0))
      network_.moveBytes(0);
    if (network_.mayNotify(0)) {
      uint32_t target = network_.targetOf(0);
      size_t before = network_.numEvents(target);
      network_.notify(0);
      notifications += network_.numEvents(target) > before;
    }
    network_.finish(0);
  }

  ScriptedNetwork network_;
  ScriptedTransport *transports_[2] = {}; ///< of these workers
  std::unique_ptr<RemoteWorker> workers_[2];
  std::unique_ptr<RemoteEndpoint> endpoints_[2];
};

class ScriptedPlan {
public:
  static constexpr uint64_t kBytes = ScriptedPair::kBytes;

  ScriptedPlan(ScriptedPair &pair, const Transfer &transfer) : pair_(pair) {
    for (uint32_t r = 0; r < 2; ++r) {
      std::vector<EdgeSpec> edge{{Rank{1 - r}, {MessageId{0}}, {transfer}}};
      channels[r] =
          pair.endpoint(r).open(r == 0 ? OpenRequest{edge, {}} : OpenRequest{{}, edge}).take();
    }
  }

  void start() {
    for (auto &end : channels)
      end->start();
    done[0] = done[1] = 0;
    std::fill(to.begin(), to.end(), std::byte{0});
  }
  void send() {
    sent_ = {from.data(), from.size()};
    done[0] +=
        channels[0]->send({0, 0}, OpId{1}, {&sent_, 1, true, false, from.size()}) == Posted::Done;
  }
  void recv() { recv(to.data()); }
  void recv(std::byte *at) {
    got_ = {at, from.size()};
    done[1] +=
        channels[1]->recv({0, 0}, OpId{2}, {&got_, 1, true, false, from.size()}) == Posted::Done;
  }
  void pump() {
    pair_.pump([this](uint32_t rank) { done[rank] += channels[rank]->poll().size(); });
  }
  /// Both ends are over, and all bytes are there.
  bool isDone() const { return done[0] == 1 && done[1] == 1 && to == from; }

  std::vector<std::byte> from = std::vector<std::byte>(kBytes, std::byte{7});
  std::vector<std::byte> to = std::vector<std::byte>(kBytes);
  size_t done[2] = {};
  std::unique_ptr<Channels> channels[2];

private:
  ScriptedPair &pair_;
  iovec sent_ = {}, got_ = {};
};

} // namespace colldsl::protocol::test
