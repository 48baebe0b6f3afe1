/// Letters and bytes over a network (transports/network), which any thread may poll, and whose news
/// end a sleep. Bytes are written from buffer to buffer where the network can, else they travel in
/// parts.
///
/// Who is written to, and who writes, is watched. Once one is gone nothing moves any more, and all
/// that are known are told, who tell theirs.
#pragma once

#include "mpi/Courier.h"
#include "runtime/OnNetwork.h"
#include "transports/network/Presence.h"

#include <deque>

namespace colldsl::mpi {

class NetworkCourier final : public Courier, network::MailReader {
public:
  /// Collective over `world`. An error is one on all ranks.
  static Result<std::unique_ptr<Courier>> make(MPI_Comm world, Haste haste);
  ~NetworkCourier() override;

  std::string name() const override { return std::string(carrier_->powers().name); }
  bool isOfMpi() const override { return false; }
  uint32_t letterBytes() const override { return options_.eagerBytes; }
  void write(Rank to, std::span<const std::byte> header, const Payload &payload,
             Message *message) override;
  std::optional<Place> expect(Rank from, Message &message) override;
  bool expectsInVain() const override { return true; }
  void expectNoMore(Rank from, const Place &place) override;
  void give(Rank to, Message &message, const Place &place) override;
  bool poll() override;
  std::optional<protocol::Wakeup> wakeup() override;
  void meet(Rank rank) override;
  void tellFailure(const Fault &fault) override { fail(fault); }
  void forget(const protocol::CompletionCounter &tally) override;

private:
  using Clock = std::chrono::steady_clock;

  /// A message that is done once all that was said to the peer is gone.
  struct Leaving {
    network::Peer *peer;
    Message *message;
  };

  /// Bytes that go.
  struct Outgoing : network::Move {
    Message *message = nullptr; ///< null: this one is free
    Place place;
    network::Region region; ///< where the network must know what it reads
    uint64_t gone = 0;
    bool isMoving = false; ///< the network has it
  };

  /// Bytes that come, by number.
  struct Incoming {
    Message *message = nullptr; ///< null: nobody wants them
    network::Peer *peer = nullptr;
    network::Region region; ///< where the peer may write
    uint32_t place = 0;
    uint64_t bytes = 0, here = 0;
    uint32_t use = 0; ///< how often it was used: the peer names that too
    bool isUsed = false;
  };

  NetworkCourier(MPI_Comm world, Rank self, OnNetwork network);
  Status start(Bootstrap &bootstrap, uint32_t numRanks);
  network::Peer *peer(Rank rank);
  bool isBusy() const override;
  bool canWrite(const Payload &payload) const;

  void onFrame(network::Peer &from, const network::Header &header,
               std::span<const std::byte> body) override;
  void onMoved(network::Move &move) override;
  void onWritten(uint32_t ticket) override;
  void onLost(network::Peer &peer, const std::string &reason) override;
  void onBroken(const std::string &reason) override;
  void onNeglected() override {} // libfabric has no thread that says so

  void onFragment(const network::Peer &from, uint32_t number, std::span<const std::byte> bytes);
  Incoming &freshIncoming();
  uint32_t numberOf(const Incoming &incoming) const;
  Incoming *incoming(uint32_t number);
  void arrived(Incoming &incoming);
  static void release(Incoming &incoming);
  Outgoing &freshOutgoing();
  bool move(Outgoing &outgoing);
  bool write(Outgoing &outgoing);
  bool stream(Outgoing &outgoing);
  void gone(Outgoing &outgoing);
  void finishLeaving();
  void look();
  void fail(const Fault &fault);

  Rank self_;
  network::Options options_;
  std::unique_ptr<network::Carrier> carrier_;
  std::unique_ptr<network::Watch> watch_;
  network::Card card_;
  network::Directory directory_;
  std::optional<network::Mail> mail_;
  std::vector<iovec> pieces_; ///< of a letter
  std::vector<Leaving> leaving_;
  std::deque<Outgoing> outgoing_; ///< they stay where they are
  std::deque<Incoming> incoming_;
  uint32_t numOutgoing_ = 0;
  std::vector<network::Watch::News> gone_;
  std::vector<std::pair<Rank, std::string>> lost_; ///< perhaps they died
  Clock::time_point nextLook_ = {};
};

} // namespace colldsl::mpi
