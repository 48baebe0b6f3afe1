/// Messages over a network, between ranks of any machines. open() waits for nobody: the k-th plan
/// that is opened here belongs to the k-th that is opened by every other rank.
///
/// Messages up to eagerBytes are said at once; longer ones, and those that a peer has no room
/// for, are asked about, and the receiver says where it wants them, or reads them itself, or
/// takes them in parts where the carrier reaches nobody's memory. Receives of messages that
/// travel `via static` say so before they are asked.
///
/// Failures go to the peers of the plan and, along a tree, to all ranks. A rank whose process is
/// gone is noticed by its peers.
#pragma once

#include "transports/network/Multicast.h"
#include "transports/network/Presence.h"

#include <atomic>
#include <map>
#include <mutex>
#include <optional>

namespace colldsl::network {

/// Of what a peer said before it left.
inline constexpr int kMostPolls = 1000;

class NetworkChannels;
struct Cast;
struct End;

class NetworkEndpoint : public Endpoint, private MailReader, private MulticastReader {
public:
  /// Of one rank among `numRanks`; meet() comes next.
  static Result<std::unique_ptr<NetworkEndpoint>>
  make(Rank self, uint32_t numRanks, const Options &options, std::unique_ptr<Carrier> carrier);

  ~NetworkEndpoint() override;

  /// Where others find this rank.
  const Card &card() const { return card_; }
  /// Where this rank finds others. Nothing is sent.
  Status meet(Directory directory);
  /// The same for all ranks of a bootstrap, which then knows all cards.
  Status meet(Bootstrap &bootstrap);

  Rank rank() const override { return self_; }
  uint32_t numRanks() const override { return numRanks_; }
  const Caps &caps() const override { return caps_; }
  Result<std::unique_ptr<Channels>> open(const OpenRequest &request) override;
  void refuse(const std::string &reason) override;
  SleepTicket armSleep() override { return wakes_.load(); }
  void sleep(SleepTicket ticket, std::chrono::nanoseconds atMost) override;
  void wake() override;

  /// Peers that it knows, and its memory for frames: for tests.
  size_t numPeers();
  uint64_t frameBytes();
  /// Frames, completions and connections that it took no notice of.
  uint64_t numRefused();

private:
  friend class NetworkChannels;

  NetworkEndpoint(Rank self, uint32_t numRanks, const Options &options,
                  std::unique_ptr<Carrier> carrier);
  Status openAll();
  Status checkPeers(std::span<const EdgeSpec> edges) const;
  Result<Peer *> watchedPeer(Rank rank);

  void onFrame(Peer &from, const Header &header, std::span<const std::byte> body) override;
  void onMoved(Move &move) override;
  void onWritten(uint32_t ticket) override;
  void onLost(Peer &peer, const std::string &reason) override;
  void onBroken(const std::string &reason) override;
  void onNeglected() override;
  void onPlanFrame(Peer &from, const Header &header, std::span<const std::byte> body);
  void onFailed(std::span<const std::byte> body);
  void drop(Peer &from, const Header &header, std::span<const std::byte> body);
  void dropOfNoPlan(Peer &from, const Header &header, std::span<const std::byte> body);
  void onCast(Peer &root, std::span<const std::byte> frame) override;
  void sayFor(Peer &to, std::span<const std::byte> bytes) override;
  /// Of the receivers of these messages. Nothing: there can be none.
  std::optional<Multicast::Group> groupOf(const std::vector<End *> &ends);

  /// Moves what can move. True: something moved.
  bool progress();
  bool streamAll();
  bool stream(End &end);
  void freeze(Rank writer);
  bool moveAll();
  bool castAll();
  void forget(const End &end);
  /// Looks for peers that are gone, now and then.
  void look();
  void takeNews(const Watch::News &news);
  void sayGoodbye();
  std::chrono::nanoseconds linger() const;
  bool allSaidFarewell() const;
  bool isIdle() const;

  // Failures. In the tree below `root` each rank passes on what it hears.
  void report(uint32_t plan, const Fault &fault);
  bool note(uint32_t plan, const Fault &fault);
  void passOn(FailureBody body);
  void passDown(const FailureBody &body, uint32_t below);
  void tellFailure(Rank rank, const FailureBody &body);
  std::optional<Fault> failureOf(uint32_t plan) const;
  bool hasFailed(uint32_t plan) const { return allFailed_ || failed_.count(plan) != 0; }

  /// Memory that a peer was told to read stays registered until it has closed the plan: a read
  /// that fails would cost the peer.
  void keepUntilClosed(uint32_t plan, Rank reader, Region region);
  void dropKept(uint32_t plan, Rank reader);
  void dropOrphans();

  uint32_t ticketFor(End &end);
  void retire(End &end);

  Rank self_;
  uint32_t numRanks_;
  Options options_;
  Caps caps_;
  Card card_;
  Directory directory_;
  int waker_ = -1;
  std::mutex sleepMutex_; ///< held while a sleeper comes or goes
  std::atomic<uint32_t> sleepers_{0};
  std::atomic<uint32_t> wakes_{0};
  std::mutex mutex_; ///< everything below
  std::unique_ptr<Carrier> carrier_;
  std::unique_ptr<Watch> watch_;
  std::optional<Mail> mail_;
  uint32_t opened_ = 0;
  bool isFrozen_ = false;
  bool isLeaving_ = false; ///< nobody can need anything of it any more but what it said
  std::unordered_map<uint32_t, NetworkChannels *> plans_;
  struct Early {
    Rank from;
    Header header;
    std::vector<std::byte> body;
  };
  std::map<uint32_t, std::vector<Early>> early_; ///< of plans that are not open here yet
  std::map<uint32_t, Fault> failed_;             ///< plans
  std::optional<Fault> allFailed_;
  std::vector<End *> toMove_;    ///< the carrier did not take it yet
  std::vector<End *> streaming_; ///< to peers, in parts
  std::vector<Cast *> casting_;  ///< to several peers at once, not at their end
  std::map<std::vector<Rank>, std::optional<Multicast::Group>> groups_; ///< by members
  std::vector<std::byte> together_;                                     ///< of a message in pieces
  struct Ticket {
    End *end = nullptr;
    uint32_t use = 0;
  };
  std::vector<Ticket> tickets_;
  std::vector<uint32_t> freeTickets_;
  struct Kept {
    uint32_t plan;
    Rank reader;
    Region region;
  };
  std::vector<Kept> kept_;
  std::vector<std::vector<End>> orphans_; ///< whose plan is closed, but the carrier is not done
  std::vector<Watch::News> news_;
  struct Lost {
    Rank rank;
    std::string reason;
  };
  std::vector<Lost> lost_; ///< not reported yet: perhaps they died
  std::chrono::steady_clock::time_point nextLook_ = {};
};

} // namespace colldsl::network
