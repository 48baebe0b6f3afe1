/// Connects queue pairs by librdmacm: one rank calls, the other one answers. Calls that cross are
/// decided by rank, as handshakes are: that of the greater one stands.
///
/// The calling end sends first (RFC 5044, section 7): before that the other end sends nothing. A
/// rank that computes answers late, and is called again.
#pragma once

#include "transports/verbs/Connector.h"
#include "wireup/Interfaces.h"

#include <chrono>

namespace colldsl::verbs {

struct CloseCm {
  void operator()(rdma_event_channel *channel) const {
    CmLibrary::get().destroy_event_channel(channel);
  }
  void operator()(rdma_cm_id *id) const { CmLibrary::get().destroy_id(id); }
};
using CmChannel = std::unique_ptr<rdma_event_channel, CloseCm>;
using CmId = std::unique_ptr<rdma_cm_id, CloseCm>; ///< its queue pair goes before it

class CmConnector : public Connector {
public:
  /// Listens at the address to bind to, if it is one of the device, else at the device's first one.
  /// `device` and `calls` outlive it.
  static Result<std::unique_ptr<Connector>> open(Device &device, const Options &options,
                                                 Calls &calls);
  ~CmConnector() override { stop(); }

  std::vector<std::byte> address() const override;
  Status start(network::Carrier &carrier, ConnectorHost &host,
               const network::Owner &owner) override;
  Result<std::unique_ptr<Link>> reach(network::Peer &peer,
                                      const network::RankAddress &rankAddress) override;
  Status begin(Link &link) override;
  bool take(const ibv_wc &) override { return false; }
  void onFirstReceive(Link &link) override;
  bool poll() override;
  network::Carrier::Wait wait() override;
  void stop() override;
  uint32_t completions() const override { return 0; }
  uint64_t numRefused() const override { return 0; }
  uint64_t bytes() const override { return 0; }

private:
  using Clock = std::chrono::steady_clock;
  struct CmLink;
  /// The address where a rank accepts connections; the carrier's part of its address.
  struct Address {
    colldsl::Address address;
    uint16_t port = 0; ///< in network order
  };
  /// The private data of both ends when they connect.
  struct Greeting {
    uint64_t token = 0; ///< of the receiving end
    Rank from = kNoRank;
    uint32_t frames = 0; ///< frames that `from` has receives for
  };
  struct Event {
    rdma_cm_event_type kind;
    rdma_cm_id *id; ///< of a request: a new one
    int error;
    Greeting greeting;
  };

  CmConnector(Device &device, const Options &options, Calls &calls)
      : device_(device), calls_(calls), frames_(options.framesPerPeer), silence_(options.silence) {}
  Status failed(const char *what) const;
  Status listen(const std::string &place);
  bool isOurs(const ibv_context *context) const;
  Status listenAt(const colldsl::Address &address);
  std::optional<Event> next();
  bool attend();
  Status proceed(CmLink &link, const Event &event);
  void answer(CmId id, const Greeting &greeting);
  Status accept(CmLink &link, const Greeting &greeting);
  Status makePair(CmLink &link);
  Status connect(CmLink &link);
  Status noWay(CmLink &link, const char *what);
  Status establish(CmLink &link, const Greeting &greeting);
  Status call(CmLink &link);
  void hangUp(CmLink &link);
  void callLater(CmLink &link);
  bool callAgain();
  rdma_conn_param termsOf(const CmLink &link, const Greeting &greeting) const;

  Device &device_;
  Calls &calls_;
  uint32_t frames_;
  std::chrono::milliseconds silence_;
  ConnectorHost *host_ = nullptr;
  network::Owner owner_;
  CmChannel channel_;
  CmId listener_;
  Address address_;
  int eventFile_ = -1;          ///< of the device, or of calls
  std::vector<CmLink *> begun_; ///< links that are not ready yet
  uint32_t polls_ = 0;          ///< since this rank slept
};

} // namespace colldsl::verbs
