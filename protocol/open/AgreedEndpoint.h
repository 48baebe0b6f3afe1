/// Makes the open of a plan an agreement: a collective step on top of an endpoint whose ranks open
/// alone (Caps::opensAlone).
///
/// Both ends of each edge exchange what they know of it, each rank opens the inner channels, and
/// all ranks exchange whether they could. The plan is open on all ranks or on none: if one objects,
/// all get the same reason. Example: rank 1 expects three messages where rank 0 sends two; then
/// rank 2 gets the error "rank 0 and rank 1 disagree: ...", too.
///
/// It costs two exchanges of the bootstrap, in which a rank that has no objection sends nothing
/// but a few words to each of its peers. If the ends of an edge disagree, one more exchange of all
/// ranks finds by which term of the plan (PlanTerms.h), if it is one. The channels are those of the
/// inner endpoint, so the agreement costs nothing afterwards.
#pragma once

#include "protocol/RankGroup.h"
#include "wireup/Bootstrap.h"

#include <mutex>
#include <optional>

namespace colldsl::protocol {

/// The reason for which a rank does not open a plan.
struct Objection {
  /// A rank that cannot open sends no offers, so that its peers disagree with it: its own reason
  /// counts before theirs.
  enum class Cause : uint8_t { Rank, Edge };
  Cause cause;
  ErrorKind kind;
  std::string reason;
};

class AgreedEndpoint : public Endpoint {
public:
  /// `inner` opens alone. `bootstrap` reaches its ranks in bounded time; it is used for nothing
  /// else meanwhile. Both outlive this endpoint. `group`: the ranks of `inner` as the bootstrap
  /// names them; kNoRank: no edge leads there, and it takes no part.
  AgreedEndpoint(Endpoint &inner, Bootstrap &bootstrap, RankGroup group);
  ~AgreedEndpoint() override { bootstrap_.whileWaiting({}); }

  Rank rank() const override { return inner_.rank(); }
  uint32_t numRanks() const override { return inner_.numRanks(); }
  const Caps &caps() const override { return caps_; }
  Result<std::unique_ptr<Channels>> open(const OpenRequest &request) override;
  void refuse(const std::string &reason) override;
  const TransferCaps &transferCaps(Rank peer) const override { return inner_.transferCaps(peer); }
  bool isShared(const Payload &payload) const override { return inner_.isShared(payload); }
  void *allocateShared(uint64_t bytes) override { return inner_.allocateShared(bytes); }
  void releaseShared(void *memory) override { inner_.releaseShared(memory); }
  std::shared_ptr<network::DeviceRegistration>
  registerDevice(const network::DeviceMemory &memory) override {
    return inner_.registerDevice(memory);
  }
  bool isOnThisMachine(Rank peer) const override { return inner_.isOnThisMachine(peer); }
  bool startsFirst(Rank peer) const override { return inner_.startsFirst(peer); }
  WakeupEpoch armSleep() override { return inner_.armSleep(); }
  void sleep(WakeupEpoch epoch, std::chrono::nanoseconds atMost) override {
    inner_.sleep(epoch, atMost);
  }
  void wake() override { inner_.wake(); }

protected:
  /// Reads the capabilities of the inner endpoint again, after they have changed.
  void refreshCaps();

private:
  Result<std::unique_ptr<Channels>> openWithAll(Status own, const OpenRequest &request);
  Result<std::optional<Objection>> compareWithPeers(const OpenRequest &request);
  Result<std::optional<Objection>> agree(const std::optional<Objection> &own);
  Result<Objection> withTerms(Objection verdict, std::string_view terms);
  Status exchange(std::vector<BootstrapData> out, std::vector<BootstrapData> &in);
  std::vector<BootstrapData> toAll(const std::vector<std::byte> &bytes) const;

  Endpoint &inner_;
  Bootstrap &bootstrap_;
  RankGroup group_;
  Caps caps_;
  std::mutex mutex_; ///< one open at a time
};

} // namespace colldsl::protocol
