/// The messages of one plan over a network. Internal to NetworkEndpoint.
#pragma once

#include "transports/network/NetworkEndpoint.h"

#include <deque>
#include <set>

namespace colldsl::network {

struct Cast;

/// One end of a message. It stays where it is while its plan is open.
struct End : Move {
  enum class State : uint8_t {
    Idle,
    Asked,     ///< sent: the receiver was told of it
    ToMove,    ///< the carrier did not take the read or the write yet
    Moving,    ///< read or written by this rank
    Streaming, ///< travels in parts
    Posted,    ///< received: nothing came yet
    Announced, ///< received: the sender may write it
    Cast,      ///< sent: goes to others at the same time
    ToConfirm, ///< received: read, but so slowly that the sender may have given the message up
  };
  State state = State::Idle;
  bool sends = false;
  bool comesLate = false; ///< received: the one before was asked about after its receive was posted
  bool isDoubted = false; ///< the peer was asked, and did not answer yet
  bool mayBeRead = false; ///< sent: the peer was told where it may read it
  std::chrono::steady_clock::time_point beganAt = {}; ///< received: its read
  bool isAwaited = false; ///< the carrier knows that something is to come of the peer
  Transfer way;
  uint32_t message = 0; ///< place in the edge's list
  MessageId id{};
  struct Cast *cast = nullptr; ///< sent, where it may go to others at the same time
  uint32_t run = 0;
  bool isSkipped = false;  ///< it has no bytes in this run
  uint32_t written = 0;    ///< sent: the last run whose message this rank wrote
  uint64_t castFrames = 0; ///< of this message, ever, that went to others at the same time
  OpId op = kNoOp;
  NetworkChannels *channels = nullptr;
  Payload payload;
  uint64_t bytes = 0;             ///< of the message
  uint64_t moved = 0;             ///< Streaming: so far
  PlaceBody place = {};           ///< sent: where the receiver wants it; received: where to read it
  std::vector<Stretch> stretches; ///< of `place`, or of where it is received
  uint32_t placeRun = 0;          ///< sent: the run of `place`
  uint32_t ticket = kNoTicket;    ///< received
  Region region;                  ///< of the payload's memory, `regionOf`, with `regionAccess`
  iovec regionOf = {};
  Access regionAccess = Access::Send;

  static constexpr uint32_t kNoTicket = 0xffffffffu;
};

/// Messages of this rank that may go to all their receivers at once.
struct Cast {
  enum class State : uint8_t {
    Idle, ///< or each goes by itself in this run
    Gathering,
    ToSay, ///< waits for room
    ToAsk, ///< the same
    Asked, ///< receivers were told of it; not all want it yet
    Saying,
    Said, ///< not all have heard it
  };
  State state = State::Idle;
  MessageId id{};
  Multicast::Group group = 0;
  std::vector<End *> ends;
  NetworkChannels *channels = nullptr;
  uint32_t run = 0;
  size_t gathered = 0, wanted = 0;                  ///< ends
  End *first = nullptr;                             ///< that was gathered; all have its payload
  std::chrono::steady_clock::time_point until = {}; ///< Asked
  uint64_t number = 0;                              ///< Said: of the last frame
};

class NetworkChannels : public Channels {
public:
  NetworkChannels(NetworkEndpoint &endpoint, uint32_t plan) : endpoint_(endpoint), plan_(plan) {}
  ~NetworkChannels() override;

  /// An error: a peer cannot be reached.
  Status connect(const OpenRequest &request);

  Status prepare(const Work &) override { return {}; }
  void start() override;
  Posted send(MessageSlot slot, OpId op, const Payload &payload) override;
  Posted recv(MessageSlot slot, OpId op, const Payload &payload) override;
  void hold() override;
  void push() override;
  std::span<const Completion> poll() override;
  bool check() override;
  void abort(const Fault &fault) override;
  void cancel() override;
  OpId openOp(Rank peer) const override;

private:
  friend class NetworkEndpoint;

  struct Side {
    std::vector<Peer *> peers;   ///< by edge
    std::vector<uint32_t> first; ///< by edge: of its ends; one more at the end
    std::vector<End> ends;
    std::unordered_map<Rank, uint32_t> edgeOf;
  };
  /// What came before it was wanted.
  struct Aside {
    Kind kind;
    std::vector<std::byte> body;
  };
  using Key = std::pair<const End *, uint32_t>; ///< and its run

  Status addEdges(Side &side, std::span<const EdgeSpec> edges, bool sends);
  End &begin(Side &side, MessageSlot slot, OpId op, const Payload &payload);
  End *find(Side &side, Rank peer, uint32_t message);
  Header headerOf(Kind kind, const End &end) const {
    return {.plan = plan_, .run = end.run, .message = end.message, .kind = kind};
  }

  // What frames say.
  void onFrame(Peer &from, const Header &header, std::span<const std::byte> body);
  void onMessage(Peer &from, const Header &header, std::span<const std::byte> body);
  void onFragment(Peer &from, const Header &header, std::span<const std::byte> body);
  void onPlace(Peer &from, const Header &header, std::span<const std::byte> bytes);
  uint32_t mostStretches() const;
  bool readPlace(End &end, std::span<const std::byte> bytes);
  void onRead(Peer &from, const Header &header);
  void refuse(End &end, const Header &header, uint64_t bytes);
  void setAside(const End &end, const Header &header, std::span<const std::byte> body);
  bool takeAside(End &end);

  // Sending.
  Posted sendAlone(End &end);
  void ask(End &end);
  void letGo(End &end);

  // To several at once.
  void addCasts();
  bool gather(End &end);
  void split(Cast &cast);
  void splitGathered();
  void launch(Cast &cast);
  bool advance(Cast &cast);
  bool askAll(Cast &cast);
  bool noteWanted(End &end);
  bool splitAsked(Cast &cast);
  bool sayParts(Cast &cast);
  uint64_t sayPart(Cast &cast, Kind kind, uint64_t offset, uint64_t bytes);
  uint64_t say(Cast &cast, Kind kind, std::span<const std::byte> body, const CastWay &way);
  uint64_t castBytes() const;
  bool finish(Cast &cast);
  void onCast(Peer &from, Header header, std::span<const std::byte> bytes);
  void closeCasts();

  // Receiving.
  void announce(End &end);
  void deliver(End &end, std::span<const std::byte> bytes);
  void decide(End &end, const RequestBody &request);
  void letWrite(End &end, bool isUnasked);
  void sayPlace(End &end, bool isUnasked);
  void letStream(End &end);
  void read(End &end, const RequestBody &request);

  // Ends without bytes.
  static bool waits(const End &end);
  void doubt();
  void onHowFar(Peer &from, const Header &header, DoubtBody body);
  void onSoFar(Peer &from, const Header &header, const DoubtBody &body);

  bool know(End &end, Access access);
  bool canGather(End &end);
  void move(End &end);
  void afterMove(End &end);
  void await(End &end);
  void awaitNoMore(End &end);
  void finish(End &end);
  void finishRead(End &end);
  void failAt(Fault fault);
  bool canMove(const End &end) const;
  bool canBeWritten(const End &end) const;
  void adoptFault();
  void abortHeld(const Fault &fault);
  OpId openOpHeld(Rank peer) const;
  Rank findDeserted() const;
  bool isDeserted();
  /// Whether the peer moves no bytes of the plan any more.
  bool isDrained(const Peer &peer) const {
    return peer.isLost || closedThere_.count(peer.rank) != 0 || drainedThere_.count(peer.rank) != 0;
  }
  // The ends of a plan that is cancelled. Others may poll while this rank waits.
  using Lock = std::unique_lock<std::mutex>;
  using Deadline = std::chrono::steady_clock::time_point;
  template <typename IsOver> bool waitUntil(Lock &lock, Deadline deadline, IsOver isOver);
  void drain(Lock &lock, Side &side, Deadline deadline);
  void awaitWriters(Lock &lock, Deadline deadline);
  void awaitReaders(Lock &lock, Deadline deadline);
  void cancelHeld(Lock &lock);
  void close(Side &side);
  void sayClosed();
  void sayDrained();
  bool isMoving(const Peer &peer) const;

  NetworkEndpoint &endpoint_;
  uint32_t plan_;
  uint32_t run_ = 0;
  Side out_, in_;
  std::set<Rank> drainedThere_;          ///< peers that said so
  std::set<Rank> drainedSaid_;           ///< peers that were told so
  std::map<Rank, uint64_t> closedThere_; ///< and how many casts they said before
  std::map<Rank, uint64_t> castsTo_, castsFrom_;
  std::deque<Cast> casts_;
  std::vector<Cast *> gathering_;
  std::map<std::pair<Rank, MessageId>, End *> castFrom_; ///< received
  std::map<Key, Aside> aside_;
  std::vector<std::map<Key, Aside>::node_type> spare_; ///< their memory is used again
  std::vector<Completion> fresh_;                      ///< since the last poll
  std::vector<Completion> told_;
  bool isCancelled_ = false;
  std::optional<Fault> found_; ///< by whoever made progress; the owner has not seen it yet
  std::chrono::steady_clock::time_point desertedAt_ = {};
  std::chrono::steady_clock::time_point nextDoubt_ = {}; ///< of this run; zero: nobody waited yet
  std::chrono::nanoseconds patience_{0};
};

} // namespace colldsl::network
