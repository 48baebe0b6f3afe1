/// An endpoint that is made of several: each peer belongs to one of them, say to shared memory
/// where it sits on this node and to the network elsewhere. The messages of a plan travel by the
/// part that their peer belongs to; for the plan they are one wavefront.
///
/// All parts have the same ranks, numbered alike, and every rank opens all plans on all of its
/// parts, in the same order: so each part's failures travel as they do without the others, and what
/// one part learns the others are told.
///
/// Sleeping: a rank sleeps on the first of its parts whose news end a sleep, in naps, as there may
/// be news of the others.
#pragma once

#include "transports/Transport.h"

namespace colldsl::routed {

class RoutedEndpoint : public Endpoint {
public:
  /// `partOf`: by rank, its place among the parts, of which there are at least one. Both ends of an
  /// edge name the same part. `network`: the part, if any, whose messages are to start before
  /// others. The parts outlive it.
  static constexpr uint8_t kNone = 255;
  RoutedEndpoint(std::vector<Endpoint *> parts, std::vector<uint8_t> partOf,
                 uint8_t network = kNone);

  Rank rank() const override { return parts_.front()->rank(); }
  uint32_t numRanks() const override { return parts_.front()->numRanks(); }
  const Caps &caps() const override { return caps_; }
  Result<std::unique_ptr<Channels>> open(const OpenRequest &request) override;
  void refuse(const std::string &reason) override;
  bool startsFirst(Rank peer) const override { return partOf_[index(peer)] == network_; }
  SleepTicket armSleep() override { return sleeper_->armSleep(); }
  void sleep(SleepTicket ticket, std::chrono::nanoseconds atMost) override;
  void wake() override { sleeper_->wake(); }

private:
  friend class RoutedChannels;

  Status checkPeers(std::span<const EdgeSpec> edges) const;

  std::vector<Endpoint *> parts_;
  std::vector<uint8_t> partOf_;
  uint8_t network_;
  Caps caps_;
  Endpoint *sleeper_;
};

} // namespace colldsl::routed
