/// A collective with its arguments, ready to be run again and again.
#pragma once

#include "ir/Result.h"
#include "mpi/Call.h"
#include "mpi/CallSummary.h"

#include <memory>
#include <span>
#include <vector>

namespace colldsl::mpi {

/// Under a Guard.
class Operation {
public:
  virtual ~Operation() = default;
  Operation(const Operation &) = delete;
  Operation &operator=(const Operation &) = delete;

  /// Whether the call differs from this operation's in the places of its buffers at most. Compares
  /// the contents of lists, and datatypes by what they are, not by their handles.
  bool hasShapeOf(const Call &call) const;
  /// A hash of what hasShapeOf() compares: of the call of this operation; of another call of its
  /// kind on the same communicator.
  uint64_t shape() const { return shape_; }
  uint64_t shapeOf(const Call &call) const;

  /// Whether the buffers of the call are those of this operation.
  bool isAt(const Call &call) const {
    return call.send.buffer == sendBuffer_ && call.recv.buffer == recvBuffer_;
  }
  bool serves(const Call &call) const { return isAt(call) && hasShapeOf(call); }

  /// Whether it may, without another way through its memory.
  virtual bool mayMoveTo(const Call &) const { return true; }
  /// Between runs: from now on it serves this call, which has its shape.
  void moveTo(const Call &call);

  /// Between runs: from now on it serves this call of its kind, as a new operation would. False: it
  /// cannot, and is as before. An error: it serves no call.
  virtual Result<bool> resizeTo(const Call &) { return false; }

  /// The next run serves this call, which serves(call) or which it was moved to.
  virtual void willServe(const Call &) {}

  /// A whole run. Runs on a communicator are numbered alike by all its ranks.
  virtual Status run(uint32_t number) = 0;

  /// Begins one; Job::poll() moves it; after isDone(), finish() ends it.
  virtual void start(uint32_t number) = 0;
  virtual bool isDone() const = 0;
  /// For a caller that is about to wait for it: what is here or a moment away may be taken more
  /// cheaply than by Job::poll(). The same as isDone().
  virtual bool await() { return isDone(); }
  /// The same; a run that is over and went well is ended. Nothing but speed: may be false always.
  virtual bool tryFinish() { return false; }
  virtual Status finish() = 0;
  /// Lets go of a run that will not be finished.
  virtual void cancel() = 0;

  /// Moves what the worker alone does not. True: something moved.
  virtual bool progress() { return false; }

  /// Whether all its handles are predefined, which mean the same for ever.
  bool isQuick() const;

  /// Counts a run that is about to begin.
  void count() { algorithm_->count(sentBytes_); }
  /// What the last run was counted for, once it has begun.
  Algorithm &algorithm() { return *algorithm_; }

  bool isBusy() const { return isBusy_; }
  CallKind kind() const { return kind_; }
  uint64_t sentBytes() const { return sentBytes_; } ///< of a run, those to this rank itself too
  uint32_t nextRun() { return ++runs_; }            ///< of a persistent one

protected:
  /// Scattered bytes, moved through memory in one piece.
  struct Packed {
    std::shared_ptr<const TypeLayout> layout;
    std::byte *buffer;
    uint64_t bytes;
    std::byte *memory;
    bool isSent; ///< lies in the call's send buffer, else in that which it receives in
  };
  using PackedList = std::vector<Packed>;

  explicit Operation(CallKind kind) : kind_(kind) {}

  /// What its runs are counted for, before the first one.
  void setAlgorithm(const std::string &name) {
    algorithm_ = &Summary::all().algorithm(kind_, name);
  }

  /// Serves the calls that the other one serves, and counts as that does.
  void beLike(const Operation &other);
  /// The run that was counted is one of the other operation.
  void countFor(const Operation &other) {
    if (algorithm_ == other.algorithm_)
      return;
    algorithm_->takeBack(sentBytes_);
    algorithm_ = other.algorithm_;
    count();
  }

  /// The memory of the call lies so many bytes further on; scratch memory stays.
  virtual void shift(ptrdiff_t sent, ptrdiff_t received) = 0;

  /// Slots of either side of the call.
  void remember(const Call &call, int sendSlots, int recvSlots);
  Result<std::shared_ptr<const TypeLayout>> layoutFor(MPI_Datatype type);
  /// Memory that lives as long as the operation. It touches no other memory, so that no piece of a
  /// message lies in both.
  std::byte *scratch(uint64_t bytes);
  bool isScratch(const void *address) const;
  /// How far the buffers of a call lie from where they are now.
  ptrdiff_t sentBy(const Call &call) const;
  ptrdiff_t receivedBy(const Call &call) const;

  /// Of the call that it served.
  void forgetMemory() {
    packed_.clear();
    unpacked_.clear();
    layouts_.clear();
    scratch_.clear();
    sentBytes_ = 0;
  }

  /// For arguments that may mean something else another time, although they look the same.
  void neverQuick() { isQuick_ = false; }

  void pack() {
    if (!packed_.empty())
      packAll();
  }
  void unpack() {
    if (!unpacked_.empty())
      unpackAll();
  }

  PackedList packed_, unpacked_; ///< before a run, after it
  uint64_t sentBytes_ = 0;
  bool isBusy_ = false;

private:
  void packAll();
  void unpackAll();

  CallKind kind_;
  Algorithm *algorithm_ = nullptr;
  std::vector<std::shared_ptr<const TypeLayout>> layouts_; ///< kept, so that their ids are
  std::vector<uint64_t> arguments_;                        ///< but for buffers: see describe()
  uint64_t shape_ = 0;                                     ///< the hash of these
  std::vector<std::vector<std::byte>> scratch_;
  bool isQuick_ = true;
  void *sendBuffer_ = nullptr, *recvBuffer_ = nullptr;
  int sendSlots_ = 0, recvSlots_ = 0;
  uint32_t runs_ = 0;
};

} // namespace colldsl::mpi
