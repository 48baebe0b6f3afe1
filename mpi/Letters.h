/// Messages through the MPI below, to any rank of MPI_COMM_WORLD: for ranks that share no memory.
///
/// Both ends name a message by a Key, as on lanes. Everything that is short travels as a letter: a
/// header, and up to kShortBytes behind it, into memory of the receiver that is always posted. So
/// no bytes reach a buffer whose receive is not posted, however far a sender is ahead. A longer
/// message is asked about by letter. Its receiver posts the buffer and answers with the tag for it;
/// then the bytes go from buffer to buffer, whatever their number and pieces.
///
/// Letters that nobody wants yet are set aside. Whoever has kMostAhead of them at one peer asks
/// about short messages too, and so waits.
///
/// Progress: whoever polls. Threads: one at a time; below MPI_THREAD_MULTIPLE only those that may
/// call the MPI. Errors: once a call of the MPI failed, nothing moves any more, see status().
#pragma once

#include "mpi/Mpi.h"
#include "transports/lanes/Message.h"

#include <deque>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

namespace colldsl::mpi {

class Letters {
public:
  using Key = lanes::Key;
  using Message = lanes::Message;

  /// With its header a letter is short for any MPI.
  static constexpr uint64_t kLetterBytes = 4000;
  static constexpr uint32_t kMostAhead = 1024;

  /// Collective over `world`, of which it has a duplicate.
  explicit Letters(MPI_Comm world);

  /// Collective. Waits until all that was sent is gone.
  ~Letters();
  Letters(const Letters &) = delete;
  Letters &operator=(const Letters &) = delete;

  /// Counts the message in its tally until it is done.
  void send(Rank peer, Message &message);
  void recv(Rank peer, Message &message);

  /// Receives it if it is here and short. True: done; its tally was not touched.
  bool recvNow(Rank peer, const Message &message);

  /// Moves what can move. True: something moved.
  bool poll();

  /// Lets go of the messages of an operation that is given up. Waits for bytes that are on their
  /// way from or to its buffers.
  void forget(const lanes::Tally &tally);

  /// Tells a rank that the run with this key failed.
  void sendFailure(Rank peer, const Key &key, const Fault &fault);
  /// Null: nobody said so.
  const Fault *findFailure(const Key &key) const;

  /// What comes for the run with this key, whatever its message, is thrown away.
  void refuseRun(const Key &key);

  /// What went wrong in the MPI below, if something did.
  const Status &status() const { return status_; }

  struct Header;
  static const uint64_t kShortBytes;

private:
  /// Memory of one letter.
  struct Sheet;
  /// A letter that nobody wants yet.
  struct Aside;

  /// What is known of a rank that there were letters to or from.
  struct Peer {
    lanes::MessageQueue wanted;
    std::list<Aside> aside;
    uint32_t ahead = 0;    ///< letters that were sent, and not said to have been taken
    uint32_t taken = 0;    ///< of its letters, those that it was not told of
    std::vector<Key> gone; ///< that nobody wants any more
  };

  /// A call of the MPI below that is under way.
  struct Flight {
    enum class Kind : uint8_t { Letter, BytesOut, BytesIn } kind;
    Message *message; ///< null: nobody waits
    uint32_t number;  ///< of the sheet; the tag
    Rank peer;
    std::unique_ptr<std::byte[]> memory = {}; ///< for bytes that nobody wants any more
  };

  /// A message that is asked about, as its receiver knows it.
  struct Asked {
    Rank peer;
    Message *message;
    uint32_t question;
  };

  bool isFine(int code, const char *function);
  void listen(uint32_t ear);
  bool hear();
  void read(Rank from, const Header &header, const std::byte *bytes);
  void deliver(Rank from, const Header &header, const std::byte *bytes);
  void accept(Rank from, Message &message, const Header &header, const std::byte *bytes);
  void putAside(Peer &peer, const Header &header, const std::byte *bytes);
  void throwAway(Rank from, Peer &peer, const Header &header);
  void countTaken(Rank from, Peer &peer);
  void ask(Rank peer, Message &message);
  void answer(Rank peer, uint32_t question, uint32_t tag);
  void takeBytes(const Asked &asked);
  void giveBytes(Rank to, const Header &answer);
  void write(Rank to, const Header &header, const Payload &payload = {},
             Message *message = nullptr);
  void fly(MPI_Request request, Flight flight);
  bool land();
  void landed(const Flight &flight);
  void forgetFlights(const lanes::Tally &tally);
  void divert(size_t at);

  MPI_Comm comm_ = MPI_COMM_NULL;
  Status status_;
  uint32_t numTags_ = 0;
  std::vector<std::unique_ptr<Sheet>> ears_; ///< letters to come, the next one at ear_
  std::vector<MPI_Request> heard_;           ///< by ear
  uint32_t ear_ = 0;
  std::unordered_map<uint32_t, Peer> peers_; ///< by rank
  std::list<Aside> spare_;
  std::vector<std::unique_ptr<Sheet>> sheets_;
  std::vector<uint32_t> freeSheets_, freeTags_, freeQuestions_;
  uint32_t usedTags_ = 0;
  std::vector<Message *> questions_;  ///< null: it was given up
  std::deque<Asked> held_;            ///< for want of a tag
  std::vector<MPI_Request> requests_; ///< parallel to flights_
  std::vector<Flight> flights_;
  std::vector<int> places_;
  bool isRefused(const Key &key) const;

  // The newest; what is older nobody asks for.
  std::deque<std::pair<Key, Fault>> failures_;
  std::deque<Key> refused_;
};

} // namespace colldsl::mpi
