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
/// about short messages too, and so waits.
///
/// Progress: whoever polls. Threads: one at a time, of those that the courier allows. Errors: once
/// something failed for good, nothing moves any more, see status().
#pragma once

#include "mpi/Courier.h"

#include <deque>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

namespace colldsl::mpi {

class Letters : Courier::Reader {
public:
  using Key = lanes::Key;
  using Message = lanes::Message;

  /// What may be at one peer that is not wanted yet, in units.
  static constexpr uint32_t kWindow = 1 << 20;
  static constexpr uint32_t kUnitsPerLetter = 1 << 10; ///< and one for each byte

  /// Collective.
  explicit Letters(std::unique_ptr<Courier> courier);

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
  bool poll();

  /// For whoever waits for none of it: polls once in a while.
  void glance();

  /// Lets go of the messages of an operation that is given up. Waits for bytes that are on their
  /// way from or to its buffers.
  void forget(const lanes::Tally &tally);

  /// Tells all that are known that nothing can be had from this rank any more.
  void sendFailure(const Fault &fault) { courier_->tellFailure(fault); }
  /// Tells a rank that the run with this key failed.
  void sendFailure(Rank peer, const Key &key, const Fault &fault);
  /// Null: nobody said so.
  const Fault *findFailure(const Key &key) const;

  /// What comes for the run with this key, whatever its message, is thrown away.
  void refuseRun(const Key &key);

  /// What went wrong for good, if something did.
  const Status &status() const { return courier_->status(); }

  const Courier &courier() const { return *courier_; }
  /// As Courier::news().
  std::optional<lanes::News> news() { return courier_->news(); }

  /// Longer messages are asked about.
  uint64_t shortBytes() const { return shortBytes_; }

private:
  struct Header;
  /// A letter that nobody wants yet.
  struct Aside;
  /// What an invitation says.
  struct Wanted;
  /// An invitation to this rank.
  struct Invitation;
  /// An invitation by this rank.
  struct Invited {
    Key key;
    uint64_t bytes;
    uint32_t number; ///< of its Courier::Place
  };

  /// What is known of a rank that there were letters to or from.
  struct Peer {
    lanes::MessageQueue wanted;
    std::list<Aside> aside;
    uint32_t ahead = 0;                ///< units that were sent, and not said to have been taken
    uint32_t taken = 0;                ///< of its units, those that it was not told of
    std::vector<Key> gone;             ///< that nobody wants any more
    std::list<Invitation> invitations; ///< that wait for their messages
    std::vector<Invited> invited;
    std::vector<uint32_t> asked; ///< questions without an answer
  };

  /// A message that is asked about, as its receiver knows it.
  struct Asked {
    Rank peer;
    Message *message;
    uint32_t question;
  };

  Peer &peer(Rank rank);
  void read(Rank from, std::span<const std::byte> letter) override;
  void read(Rank from, const Header &header, const std::byte *bytes);
  void deliver(Rank from, const Header &header, const std::byte *bytes);
  void accept(Rank from, Message &message, const Header &header, const std::byte *bytes);
  void putAside(Peer &peer, const Header &header, const std::byte *bytes);
  void throwAway(Rank from, Peer &peer, const Header &header);
  void countTaken(Rank from, Peer &peer, uint64_t bytes);
  void ask(Rank peer, Message &message);
  void arrived(Rank from, Message &message) override;
  void invite(Rank from, Peer &peer, Message &message);
  void uninvite(Peer &peer, const Key &key);
  void readInvitation(Rank from, const Header &header, const std::byte *bytes);
  std::optional<Courier::Place> takeInvitation(Peer &peer, const Message &message);
  void recall(Rank from, uint32_t number);
  void decline(Rank from, const Courier::Place &place);
  void refuse(Rank peer, uint32_t question);
  void takeBytes(const Asked &asked);
  void giveBytes(Rank to, uint32_t question, const Courier::Place *place);
  void write(Rank to, const Header &header, const Payload &payload = {},
             Message *message = nullptr);
  bool isRefused(const Key &key) const;

  std::unique_ptr<Courier> courier_;
  uint64_t shortBytes_;
  uint32_t glances_ = 0;                     ///< without a look
  std::unordered_map<uint32_t, Peer> peers_; ///< by rank
  std::list<Aside> spare_;
  std::vector<uint32_t> freeQuestions_;
  std::vector<Message *> questions_; ///< null: it was given up
  std::deque<Asked> held_;           ///< that the courier could not expect yet

  // The newest; what is older nobody asks for.
  std::deque<std::pair<Key, Fault>> failures_;
  std::deque<Key> refused_;
};

} // namespace colldsl::mpi
