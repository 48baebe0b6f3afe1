/// Messages to any rank of MPI_COMM_WORLD, for ranks that share no memory: what they mean, whoever
/// carries them.
///
/// Both ends name a message by a Key, as on lanes. Everything that is short travels as a letter: a
/// header, and the bytes behind it, into memory that the receiver keeps for what comes. So
/// no bytes reach a buffer whose receive is not posted, however far a sender is ahead. A longer
/// message is asked about by letter. Its receiver answers with the place for it once there is a
/// buffer; then the bytes go from buffer to buffer. A receiver who is there first, and whose
/// courier allows it, invites the sender without being asked. An invitation that is not used,
/// because it names another length or its run failed, is void on both sides.
///
/// Letters that nobody wants yet are set aside. Whoever has a window of them at one peer asks
/// about short messages too, and so waits. Those of runs that are over here are thrown away when
/// many have gathered.
///
/// A message without bytes may not be sent or received at all. So whoever has waited for long asks
/// the peer how far it is. Letters keep their order: what a peer that is over with the run has
/// not answered before will never be.
///
/// Progress: whoever polls. Threads: one at a time, of those that the courier allows. Errors: once
/// something failed for good, nothing moves any more, see status().
#pragma once

#include "mpi/Courier.h"
#include "protocol/RunProgress.h"

#include <chrono>
#include <deque>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

namespace colldsl::mpi {

class Letters : Courier::Reader {
public:
  using Key = Tag;
  using Message = protocol::Request;

  /// In streams with this bit Key::message counts the messages of a run; in others it belongs to
  /// the name of the stream, and runs have one.
  static constexpr uint32_t kCountsMessages = 1u << 31;

  /// What may be at one peer that is not wanted yet, in units.
  static constexpr uint32_t kWindow = 1 << 20;
  static constexpr uint32_t kUnitsPerLetter = 1 << 10; ///< and one for each byte
  /// How long a peer that says nothing is waited for before it is asked: longer than others have a
  /// core that is shared.
  static constexpr std::chrono::milliseconds kPatience{100};

  /// Somebody whose messages are under way, and who may find that they will never arrive.
  class Doubter {
  public:
    /// Somebody waits, and it is a while since the last time.
    virtual void doubt() = 0;
    /// An answer: what the peer said for the run with this key is here, and nothing will follow.
    virtual void onOver(Rank peer, const Key &run) = 0;

  protected:
    Doubter() = default;
    ~Doubter() = default;
  };

  /// Collective. The book says how far this rank is.
  Letters(std::unique_ptr<Courier> courier, std::shared_ptr<const protocol::ProgressTable> book);

  /// Collective. Waits until all that was sent is gone.
  ~Letters() override;
  Letters(const Letters &) = delete;
  Letters &operator=(const Letters &) = delete;

  /// Counts the message in its tally until it is done.
  void send(Rank peer, Message &message);
  void recv(Rank peer, Message &message);

  /// Receives it if it is here and short. True: done; its tally was not touched.
  bool recvNow(Rank peer, const Message &message);

  /// Moves what can move. True: something moved.
  bool poll() { return courier_->poll(); }

  /// For whoever waits for none of it: polls once in a while.
  void glance();

  /// Now and then, by whoever waits: reads the clock.
  void look();
  /// Between these it is asked to doubt.
  void beginDoubting(Doubter &doubter) { doubters_.push_back(&doubter); }
  void endDoubting(Doubter &doubter) { std::erase(doubters_, &doubter); }
  /// Asks whether a peer is over with the run with this key, unless it was asked and did not answer
  /// yet.
  void askHowFar(Rank peer, const Key &run);
  /// Lets go of a message that nothing was heard of. False: it is done, or its bytes are on their
  /// way, or may be, until an invitation is called back.
  bool abandon(Rank peer, Message &message);

  /// Lets go of the messages of an operation that is given up. Waits for bytes that are on their
  /// way from or to its buffers.
  void forget(const protocol::CompletionCounter &tally);

  /// Tells all that are known that nothing can be had from this rank any more.
  void sendFailure(const Fault &fault) { courier_->tellFailure(fault); }
  /// Tells a rank that the run with this key failed.
  void sendFailure(Rank peer, const Key &key, const Fault &fault);
  /// Null: nobody said so.
  const Fault *findFailure(const Key &key) const;

  /// What comes for the run with this key is thrown away.
  void refuseRun(const Key &key);

  /// What went wrong for good, if something did.
  const Status &status() const { return courier_->status(); }

  const Courier &courier() const { return *courier_; }
  /// As Courier::wakeup().
  std::optional<protocol::Wakeup> wakeup() { return courier_->wakeup(); }

  /// Messages, questions and invitations that are not at their end, here or of peers: for tests.
  size_t numOpen() const;

  /// Longer messages are asked about.
  uint64_t shortBytes() const { return shortBytes_; }

private:
  struct Header;
  /// A letter that nobody wants yet.
  struct Aside;
  /// What an invitation says.
  struct Wanted;
  struct Invitation;

  /// What is known of a rank that there were letters to or from.
  struct Peer {
    protocol::RequestQueue wanted;
    std::list<Aside> aside;
    uint32_t ahead = 0;                ///< units that were sent, and not said to have been taken
    uint32_t taken = 0;                ///< of its units, those that it was not told of
    std::vector<Key> gone;             ///< that nobody wants any more
    uint32_t gathered = 0;             ///< units that were set aside since the last sweep
    std::vector<Key> asked;            ///< runs
    std::vector<uint32_t> questions;   ///< without an answer
    std::list<Invitation> invitations; ///< of this rank, which has not said anything yet
    std::list<Invitation> invited;     ///< of the peer, by this rank
  };

  /// A message that is asked about, as its sender knows it.
  struct Question {
    Message *message = nullptr; ///< null: it was given up
    Key key = {};
    uint64_t bytes = 0;
  };

  Peer &peer(Rank rank);
  void read(Rank from, std::span<const std::byte> letter) override;
  void read(Rank from, const Header &header, const std::byte *bytes);
  void deliver(Rank from, const Header &header, const std::byte *bytes);
  void accept(Rank from, Message &message, const Header &header, const std::byte *bytes);
  void noteGone(Peer &peer, const Key &key);
  void putAside(Rank from, Peer &peer, const Header &header, const std::byte *bytes);
  void throwAway(Rank from, Peer &peer, const Header &header);
  /// Of a run that failed elsewhere, and is over here.
  void refuseQuestionsOf(const Key &run);
  template <typename IsGone> void throwAsideAway(Rank from, Peer &peer, IsGone isGone);
  template <typename IsVoid> void dropInvitations(Rank from, Peer &peer, IsVoid isVoid);
  void tellHowFar(Rank peer, const Key &run);
  void hearHowFar(Rank peer, const Key &run, bool isOver);
  void countTaken(Rank from, Peer &peer, uint64_t bytes);
  void ask(Rank peer, Message &message);
  void arrived(Rank from, uint32_t number, Message *message) override;
  void invite(Rank from, Peer &peer, Message &message);
  void uninvite(Rank from, Peer &peer, const Key &key);
  bool recall(Rank from, const Peer &peer, const Key &key);
  void readInvitation(Rank from, const Header &header, const std::byte *bytes);
  std::optional<Courier::Place> takeInvitation(Peer &peer, const Message &message);
  void readRecall(Rank from, uint32_t number);
  void decline(Rank from, const Courier::Place &place);
  void refuse(Rank peer, uint32_t question);
  void takeBytes(Rank from, Message &message, uint32_t question);
  void giveBytes(Rank to, uint32_t question, const Courier::Place *place);
  void writePlace(Rank to, const Header &header, Courier::Place place);
  void write(Rank to, const Header &header, const Payload &payload = {},
             Message *message = nullptr);
  bool isRefused(const Key &key) const;

  std::unique_ptr<Courier> courier_;
  std::shared_ptr<const protocol::ProgressTable> book_;
  uint64_t shortBytes_;
  uint32_t glances_ = 0;                     ///< without a look
  std::unordered_map<uint32_t, Peer> peers_; ///< by rank
  std::list<Aside> spare_;
  std::vector<uint32_t> freeQuestions_;
  std::vector<Question> questions_;
  std::vector<Doubter *> doubters_;
  std::chrono::steady_clock::time_point nextDoubt_ = {};

  // The newest; what is older nobody asks for.
  std::deque<std::pair<Key, Fault>> failures_;
  std::deque<Key> refused_; ///< runs
};

} // namespace colldsl::mpi
