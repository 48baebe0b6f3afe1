/// What carries letters between ranks of MPI_COMM_WORLD, and bytes from buffer to buffer. It knows
/// nothing of what they mean: see Letters.
///
/// Threads: one at a time. Errors: once something failed, nothing moves any more, see status().
#pragma once

#include "mpi/Mpi.h"
#include "protocol/Options.h"
#include "protocol/Request.h"

#include <functional>
#include <optional>
#include <string>

namespace colldsl::mpi {

class Courier {
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
    /// There may be more bytes than were written. Valid during the call.
    virtual void read(Rank from, std::span<const std::byte> letter) = 0;
    /// The bytes that were expected under this number. The message is finished, but for saying so;
    /// null: it was given up meanwhile.
    virtual void arrived(Rank from, uint32_t number, Message *message) = 0;
  };

  virtual ~Courier();

  /// For people: "the MPI below", say.
  virtual std::string name() const = 0;

  /// Whether poll() calls the MPI below, which not every thread may.
  virtual bool isOfMpi() const = 0;

  /// Collective, last of all. Waits until all that was written is gone, here and elsewhere.
  void leave();

  /// Before all else. The reader outlives the last poll().
  void deliverTo(Reader &reader) { reader_ = &reader; }

  /// The longest letter.
  virtual uint32_t letterBytes() const = 0;

  /// Sends header and payload in one letter. The message, if there is one, is finished once nobody
  /// need look after the letter any more.
  virtual void write(Rank to, std::span<const std::byte> header, const Payload &payload,
                     Message *message) = 0;

  /// From now on the bytes of the message, `moved` of them, may come. Empty: not now, but after
  /// others came.
  virtual std::optional<Place> expect(Rank from, Message &message) = 0;

  /// The bytes that were expected there will not come, and their message is given up, or still
  /// wanted.
  virtual void expectNoMore(Rank from, const Place &place) = 0;

  /// Whether bytes may be expected that perhaps never come, and that nobody says so of for long.
  virtual bool expectsInVain() const { return false; }

  /// Sends the bytes of the message there, and finishes it.
  virtual void give(Rank to, Message &message, const Place &place) = 0;

  /// Moves what can move. True: something moved.
  virtual bool poll() = 0;

  /// What to wait for where nothing moves. Empty: there is something now.
  virtual std::optional<protocol::Wakeup> wakeup() = 0;

  /// Before something is written to a rank or comes from it.
  virtual void meet(Rank) {}

  /// Tells other ranks that nothing can be had from this one any more.
  virtual void tellFailure(const Fault &) {}

  /// Lets go of the messages of an operation that is given up. Waits for bytes that are on their
  /// way from or to its buffers.
  virtual void forget(const protocol::CompletionCounter &tally) = 0;
  /// What else moves while forget() waits: the peer may be waiting for it.
  void whileWaiting(std::function<void()> moveOthers) { moveOthers_ = std::move(moveOthers); }

  /// What went wrong for good, if something did.
  const Status &status() const { return status_; }

protected:
  /// Collective over `world`, which is duplicated.
  explicit Courier(MPI_Comm world);
  Courier(const Courier &) = delete;
  Courier &operator=(const Courier &) = delete;

  bool isFine(int code, const char *function);
  /// Whether something that was promised is not gone yet.
  virtual bool isBusy() const = 0;

  MPI_Comm comm_ = MPI_COMM_NULL;
  Reader *reader_ = nullptr;
  std::function<void()> moveOthers_ = [] {};
  Status status_;
  bool isLeaving_ = false;
};

} // namespace colldsl::mpi
