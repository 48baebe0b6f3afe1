/// Ranks over datagrams in one process, moved by one thread, of which the first one broadcasts.
#pragma once

#include "protocol/remote/NetworkEndpoint.h"
#include "tests/transports/LossyCalls.h"
#include "transports/datagram/DatagramTransport.h"

namespace colldsl::test {

class Broadcasts {
public:
  /// The options of a rank.
  using OptionsOf = std::function<datagram::Options(Rank)>;
  /// One weather for all: each rank has its own seed.
  Broadcasts(uint32_t ranks, const OptionsOf &optionsOf, const Weather &weather = {});
  ~Broadcasts();

  /// One plan, which sends messages of these sizes, with the hint or without it. True: it is open.
  bool open(const std::vector<uint64_t> &sizes, bool isMulticast = true);
  /// Each rank closes the plan.
  void close();
  /// Runs it so often. Empty if all of it arrives as it was sent; else what is wrong. `late`: this
  /// rank begins when all other members have finished.
  std::string run(uint32_t runs, std::optional<uint32_t> late = {});
  /// The root begins alone, its sends being done at once, and closes the plan; then the others
  /// begin. As run().
  std::string runAndLeave();
  /// Polls until all members hear the root. False: they do not for so long.
  bool waitForGroup(std::chrono::nanoseconds atMost = std::chrono::seconds(10));
  /// All look once.
  void poll();

  uint32_t numRanks() const { return static_cast<uint32_t>(ranks_.size()); }
  datagram::DatagramTransport &transport(uint32_t rank) { return *ranks_[rank].transport; }
  protocol::NetworkEndpoint &endpoint(uint32_t rank) { return *ranks_[rank].endpoint; }
  LossyCalls &calls(uint32_t rank) { return *ranks_[rank].calls; }
  Channels &channels(uint32_t rank) { return *ranks_[rank].channels; }
  std::function<void()> eachPoll; ///< called then
  std::string trouble;            ///< why there are none

private:
  struct One {
    std::unique_ptr<LossyCalls> calls;
    datagram::DatagramTransport *transport = nullptr;
    std::unique_ptr<protocol::NetworkEndpoint> endpoint;
    std::unique_ptr<Channels> channels;
    std::vector<std::vector<std::byte>> buffers;
    std::vector<iovec> pieces;
    size_t pending = 0, done = 0;
  };
  void begin(uint32_t rank, uint32_t run);
  bool areOver() const;
  bool membersAreOver(uint32_t butOf) const;
  std::string check(uint32_t run) const;

  std::vector<One> ranks_;
  std::vector<uint64_t> sizes_;
  uint32_t runs_ = 0;
};

} // namespace colldsl::test
