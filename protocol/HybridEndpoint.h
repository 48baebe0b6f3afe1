/// An endpoint made of two: one reaches the ranks of this machine, the other one all others. Each
/// edge of a plan belongs to the part that its peer belongs to; for the plan they are one
/// wavefront.
///
/// Both parts have the same ranks, numbered alike, and every rank opens every plan on both, in the
/// same order. So the failures of each part reach all ranks of the plan, and a failure of one part
/// fails the other one too.
///
/// Sleeping: a rank sleeps on the part whose events end a sleep, the local one first, for short
/// naps, since the other part may have events as well.
///
/// Threads, errors: as Endpoint.
#pragma once

#include "protocol/Endpoint.h"

namespace colldsl::protocol {

class HybridEndpoint final : public Endpoint {
public:
  /// `isRemote`: by rank; alike at both ends of an edge. The parts outlive it.
  HybridEndpoint(Endpoint &local, Endpoint &remote, std::vector<bool> isRemote);

  Rank rank() const override { return local_.rank(); }
  uint32_t numRanks() const override { return local_.numRanks(); }
  const Caps &caps() const override { return caps_; }
  Result<std::unique_ptr<Channels>> open(const OpenRequest &request) override;
  void refuse(const std::string &reason) override;
  const TransferCaps &transferCaps(Rank peer) const override {
    return (isRemote(peer) ? remote_ : local_).transferCaps(peer);
  }
  bool isShared(const Payload &payload) const override { return local_.isShared(payload); }
  void *allocateShared(uint64_t bytes) override { return local_.allocateShared(bytes); }
  void releaseShared(void *memory) override { local_.releaseShared(memory); }
  std::shared_ptr<network::DeviceRegistration>
  registerDevice(const network::DeviceMemory &memory) override {
    return remote_.registerDevice(memory);
  }
  bool isOnThisMachine(Rank peer) const override { return !isRemote(peer); }
  bool startsFirst(Rank peer) const override { return isRemote(peer); }
  WakeupEpoch armSleep() override { return sleeper_.armSleep(); }
  void sleep(WakeupEpoch epoch, std::chrono::nanoseconds atMost) override;
  void wake() override { sleeper_.wake(); }

  /// The rank is one of the endpoint's.
  bool isRemote(Rank peer) const { return isRemote_[index(peer)]; }

private:
  Endpoint &local_;
  Endpoint &remote_;
  std::vector<bool> isRemote_;
  Caps caps_;
  Endpoint &sleeper_; ///< one of the parts
};

} // namespace colldsl::protocol
