/// What carries letters between ranks of MPI_COMM_WORLD, and bytes from buffer to buffer: mail
/// (transports/network) over libfabric, or over the messages of the MPI below. It knows nothing of
/// what they mean: see Letters.
///
/// Bytes are written from buffer to buffer where the carrier can, else they travel in parts.
///
/// Over libfabric any thread may poll, what comes ends a sleep, and whoever is written to, or
/// writes, is watched: once one is gone nothing moves any more, and all that are known are told,
/// who tell theirs. Over the MPI below the MPI itself has to notice that a rank is gone.
///
/// Threads: one at a time. Errors: once something failed, nothing moves any more, see status().
#pragma once

#include "mpi/Mpi.h"
#include "protocol/Options.h"
#include "protocol/Request.h"
#include "runtime/OnNetwork.h"
#include "transports/network/Presence.h"

#include <deque>

namespace colldsl::mpi {

class Courier : network::MailReader {
public:
  using Message = protocol::Request;

  /// Where bytes are wanted, for the courier at the other end.
  struct Place {
    uint64_t address = 0, key = 0;
    uint32_t number = 0;
    uint32_t isWritable = 0;
  };

  /// What comes of it. May call everything of the courier but poll() and forget().
  class Reader {
  public:
    virtual ~Reader() = default;
    /// Valid during the call.
    virtual void read(Rank from, std::span<const std::byte> letter) = 0;
    /// The bytes that were expected under this number. The message is finished, but for saying so;
    /// null: it was given up meanwhile.
    virtual void arrived(Rank from, uint32_t number, Message *message) = 0;
  };

  /// Collective over `world`, which is duplicated. An error is one on all ranks.
  static Result<std::unique_ptr<Courier>> overNetwork(MPI_Comm world, Haste haste);
  /// Collective over `world`, which is duplicated. Never null: see status().
  static std::unique_ptr<Courier> overMpi(MPI_Comm world);
  ~Courier() override;
  Courier(const Courier &) = delete;
  Courier &operator=(const Courier &) = delete;

  /// For people: "the MPI below", say.
  std::string name() const { return std::string(carrier_->powers().name); }

  /// Whether poll() calls the MPI below, which not every thread may.
  bool isOfMpi() const { return !watch_; }

  /// Collective, last of all. Waits until all that was written is gone, here and elsewhere.
  void leave();

  /// Before all else. The reader outlives the last poll().
  void deliverTo(Reader &reader) { reader_ = &reader; }

  /// The longest letter.
  uint32_t letterBytes() const { return options_.eagerBytes; }

  /// Sends header and payload in one letter. The message, if there is one, is finished once nobody
  /// need look after the letter any more.
  void write(Rank to, std::span<const std::byte> header, const Payload &payload, Message *message);

  /// From now on the bytes of the message, `moved` of them, may come.
  Place expect(Rank from, Message &message);

  /// The bytes that were expected there will not come, and their message is given up, or still
  /// wanted.
  void expectNoMore(Rank from, const Place &place);

  /// Whether bytes may be expected that perhaps never come, and that nobody says so of for long:
  /// where it is noticed that a rank is gone.
  bool expectsInVain() const { return watch_ != nullptr; }

  /// Sends the bytes of the message there, and finishes it.
  void give(Rank to, Message &message, const Place &place);

  /// Moves what can move. True: something moved.
  bool poll();

  /// What to wait for where nothing moves. Empty: there is something now.
  std::optional<protocol::Wakeup> wakeup();

  /// Before something is written to a rank or comes from it.
  void meet(Rank rank);

  /// Tells other ranks, where they are watched, that nothing can be had from this one any more.
  void tellFailure(const Fault &fault);

  /// Lets go of the messages of an operation that is given up. Waits for bytes that are on their
  /// way from or to its buffers.
  void forget(const protocol::CompletionCounter &tally);
  /// What else moves while forget() waits: the peer may be waiting for it.
  void whileWaiting(std::function<void()> moveOthers) { moveOthers_ = std::move(moveOthers); }

  /// What went wrong for good, if something did.
  const Status &status() const { return status_; }

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

  Courier(MPI_Comm world, Rank self, OnNetwork network);
  Status start(Bootstrap &bootstrap, uint32_t numRanks);
  Status startMail(uint64_t token, network::Directory directory);
  bool isFine(int code, const char *function);
  network::Peer *peer(Rank rank);
  bool isBusy() const;
  bool canWrite(const Payload &payload) const;

  void onFrame(network::Peer &from, const network::Header &header,
               std::span<const std::byte> body) override;
  void onMoved(network::Move &move) override;
  void onWritten(uint32_t ticket) override;
  void onLost(network::Peer &peer, const std::string &reason) override;
  void onBroken(const std::string &reason) override;
  void onNeglected() override {} // neither carrier has a thread that says so

  void onFragment(const network::Peer &from, uint32_t number, std::span<const std::byte> bytes);
  Incoming &freshIncoming();
  uint32_t numberOf(const Incoming &incoming) const;
  Incoming *incoming(uint32_t number);
  Incoming *incomingAt(uint64_t key);
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

  MPI_Comm comm_ = MPI_COMM_NULL;
  Rank self_;
  network::Options options_;
  std::unique_ptr<network::Carrier> carrier_;
  std::unique_ptr<network::Watch> watch_; ///< null: over the MPI below
  network::Directory directory_;
  std::optional<network::Mail> mail_;
  Reader *reader_ = nullptr;
  std::function<void()> moveOthers_ = [] {};
  Status status_;
  bool isLeaving_ = false;
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
