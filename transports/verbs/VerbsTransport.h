/// Frames, reads and writes over reliable connections of an RDMA device: a queue pair for each
/// peer, made with the first message to it or from it. All connections receive into one shared
/// queue and complete into another one; over iWARP each has receives of its own.
#pragma once

#include "transports/network/Transport.h"
#include "transports/verbs/Connector.h"
#include "transports/verbs/Credits.h"
#include "transports/verbs/Receives.h"
#include "transports/verbs/SendQueue.h"

namespace colldsl::verbs {

class VerbsTransport : public network::Transport, private ConnectorHost {
public:
  /// Opens the transport of one of `numRanks` ranks. `calls` outlives it.
  static Result<std::unique_ptr<network::Transport>> open(uint32_t numRanks, const Options &options,
                                                          Calls &calls = Calls::real());

  Result<std::vector<std::byte>> address() const override;
  Status start(network::TransportHandler &handler, const network::Owner &owner) override;
  Status reach(network::Peer &peer, const network::RankAddress &rankAddress) override;
  network::PostResult send(network::Peer &to, network::Frame &frame) override;
  network::PostResult inject(network::Peer &to, std::span<const std::byte> frame) override;
  network::PostResult read(network::RmaOperation &rma, const network::RmaSpec &spec) override;
  network::PostResult write(network::RmaOperation &rma, const network::RmaSpec &spec) override;
  Result<network::Region> registerMemory(std::span<const iovec> pieces,
                                         network::Access access) override;
  Result<network::Region> registerDevice(const network::DeviceMemory &memory) override;
  void hold() override { holds_ = true; }
  void push() override;
  bool poll() override;
  bool isIdle(const network::Peer &peer) const override {
    return connections_[peer.handle]->requests.open() == 0;
  }
  std::optional<Wait> ifIdle() override;
  void stop() override;
  uint64_t numRefused() const override { return refused_ + connector_->numRefused(); }
  uint64_t bytes() const override {
    return connector_->bytes() + (received_ ? received_->bytes() : 0);
  }

private:
  struct Connection {
    Connection(std::unique_ptr<Link> made, const Options &options, network::FramePool &received)
        : link(std::move(made)), requests(link->peer.handle, options.sendsPerPeer),
          receives(link->peer.handle, received), credits(options.framesPerPeer) {}
    std::unique_ptr<Link> link;
    SendQueue requests;
    Receives receives; ///< of iWARP, as are credits
    Credits credits;
    bool isKept = false;  ///< in `kept_`
    bool isOwing = false; ///< in `owing_`
    bool isDeaf = false;  ///< in `deaf_`
    int error = 0;        ///< of errno: nothing can be posted any more
  };

  VerbsTransport(std::unique_ptr<Device> device, const Options &options, Calls &calls);
  Status probe();
  Status probePair();
  bool registersDmaBufs();

  // Connections.
  Link *onConnectRequest(uint64_t token, Rank from) override;
  ibv_qp_init_attr wantedPair() const override;
  Status prepare(Link &link, uint32_t frames) override;
  void unprepare(Link &link) override;
  void sendFirst(Link &link) override { addNote(connectionOf(link.peer), nullptr, {}); }
  void lose(Link &link, const std::string &reason) override;
  void breakDown(const std::string &reason) override;

  // Requests.
  /// The room that an operation needs in a connection.
  struct Need {
    uint32_t requests, pieces, frames;
  };
  bool fits(const Connection &connection, const Need &need) const;
  std::optional<network::PostResult> unfit(Connection &connection, const Need &need);
  void post(Connection &connection);
  void postNow(Connection &connection);
  void fail(Connection &connection, int error);
  bool cancelFailing();
  network::PostResult postRma(network::RmaOperation &rma, const network::RmaSpec &spec,
                              ibv_wr_opcode opcode, ibv_wr_opcode last);
  void sendInline(Connection &connection, network::Operation *operation,
                  std::span<const std::byte> bytes);
  void addNote(Connection &connection, network::Operation *operation, Note note);
  bool giveCredits();
  Connection &connectionOf(const network::Peer &peer) { return *connections_[peer.handle]; }
  void noteOwing(Connection &connection);

  // Receives.
  Status open(Receives &receives, uint32_t count);
  void listen(Connection &connection);
  void listenToAll();
  bool listenAgain();

  // Completions.
  void take(const ibv_wc &completion);
  void takeSent(Connection &connection, const ibv_wc &completion);
  void takeShared(const ibv_wc &completion);
  void takeOwn(Connection &connection, const ibv_wc &completion);
  void takeFrame(Connection &connection, const network::Frame &frame, uint32_t bytes);
  void loseOf(const ibv_wc &failed);

  std::unique_ptr<Device> device_;
  Options options_;
  Calls &calls_;
  network::TransportHandler *handler_ = nullptr;
  network::Owner owner_;
  std::optional<network::FramePool> received_;
  std::optional<Receives> shared_; ///< unless connections have their own
  std::unique_ptr<Connector> connector_;
  std::vector<std::unique_ptr<Connection>> connections_; ///< Peer::handle is the place
  std::vector<Connection *> kept_;    ///< connections whose requests wait for push(), or the device
  std::vector<Connection *> owing_;   ///< connections whose peers are to get credits
  std::vector<Connection *> deaf_;    ///< connections of which the device did not take all receives
  std::vector<Connection *> failing_; ///< connections that the next poll reports as lost
  std::vector<ibv_wc> early_;         ///< completions that were found when there was nothing to do
  uint32_t piecesPerRequest_ = 1;
  uint32_t inlineBytes_ = kInlineBytes;
  uint32_t open_ = 0;     ///< requests that are not done
  uint32_t mostOpen_ = 0; ///< requests whose completions find room in the queue
  uint32_t rmas_ = 0;     ///< reads and writes among these
  uint64_t refused_ = 0;
  bool lacksRoom_ = false; ///< since the last sleep: something must be offered again
  bool holds_ = false;     ///< keeps back what is offered
  bool isBroken_ = false;
};

} // namespace colldsl::verbs
