/// A collective with its arguments, ready to be run again and again.
#pragma once

#include "ir/Result.h"
#include "mpi/Call.h"
#include "mpi/CallSummary.h"
#include "topology/MachineProfile.h"

#include <memory>
#include <span>
#include <vector>

namespace colldsl::mpi {

/// An error: too little memory is left to prepare an operation.
Status checkReserve();

/// Under a Guard.
class Operation {
public:
  virtual ~Operation() = default;
  Operation(const Operation &) = delete;
  Operation &operator=(const Operation &) = delete;

  /// True if the call differs from this operation's at most in the addresses of its buffers.
  /// Compares the contents of lists, and datatypes by their layout, not by their handles.
  bool hasShapeOf(const Call &call) const;
  /// A hash of the arguments that hasShapeOf() compares: of the call of this operation; of another
  /// call of its kind on the same communicator.
  uint64_t shape() const { return shape_; }
  uint64_t shapeOf(const Call &call) const;
  /// A hash of the counts, places of blocks, and root of a call of that kind without types by slot.
  uint64_t lengthsOf(const Call &call) const;

  /// True if the buffers of the call are those of this operation.
  bool isAt(const Call &call) const {
    return call.send.buffer == sendBuffer_ && call.recv.buffer == recvBuffer_;
  }
  bool serves(const Call &call) const { return isAt(call) && hasShapeOf(call); }

  /// True if moveTo(call) is allowed: the call needs no other path through memory, such as a copy.
  virtual bool mayMoveTo(const Call &) const { return true; }
  /// Called between runs: from now on the operation serves this call, which has its shape.
  void moveTo(const Call &call);

  /// Called between runs, for a call of its kind whose arguments are significant: from now on the
  /// operation serves it, if it differs from the call before in counts and places of blocks alone.
  /// False: it is unchanged, and the arguments may be wrong. Exists for speed alone: may always
  /// return false.
  virtual bool follow(const Call &) { return false; }

  /// Called between runs: from now on the operation serves this call of its kind, as a new one
  /// would. False: it cannot, and is unchanged. An error: it serves no call.
  virtual Result<bool> resizeTo(const Call &) { return false; }

  /// Called before a run that serves this call, for which serves(call) holds or to which the
  /// operation was moved.
  virtual void willServe(const Call &) {}

  /// A whole run. Runs on a communicator are numbered alike by all its ranks.
  virtual Status run(uint32_t number) = 0;

  /// Begins a run; Job::poll() moves it; after isDone(), finish() ends it.
  virtual void start(uint32_t number) = 0;
  virtual bool isDone() const = 0;
  /// Variant of isDone() for a caller that is about to wait: data that is here or a moment away may
  /// be taken more cheaply than by Job::poll().
  virtual bool await() { return isDone(); }
  /// Variant of await() that also ends a run that is over and succeeded. Exists for speed alone:
  /// may always return false.
  virtual bool tryFinish() { return false; }
  virtual Status finish() = 0;
  /// Abandons a run that will not be finished.
  virtual void cancel() = 0;

  /// Moves the part of the run that the worker alone does not. True: something moved.
  virtual bool progress() { return false; }

  /// True if all its handles are predefined, whose meaning never changes.
  bool isQuick() const;

  /// The collective that serves its calls, where the rules choose among several, or what stands in
  /// its place.
  virtual TunedCollective chosen() const { return {}; }
  /// The bytes of its last call as rules count them; 0: ranks know only their own.
  virtual uint64_t ruleBytes() const { return 0; }

  /// Counts a run that is about to begin.
  void count() { algorithm_->count(sentBytes_); }
  /// The counters of the last run, once it has begun.
  Algorithm &algorithm() { return *algorithm_; }

  bool isBusy() const { return isBusy_; }
  /// True if it serves calls that are not known to come again.
  bool isSpare() const { return isSpare_; }
  void setSpare(bool isSpare) { isSpare_ = isSpare; }
  CallKind kind() const { return kind_; }
  uint32_t nextRun() { return ++runs_; } ///< of a persistent operation

protected:
  /// Scattered bytes, moved through memory in one piece.
  struct Packed {
    const TypeLayout *layout; ///< that layoutFor() returned
    std::byte *buffer;
    uint64_t bytes;
    std::byte *memory;
    bool isSent; ///< lies in the call's send buffer, else in its receive buffer
  };
  using PackedList = std::vector<Packed>;

  explicit Operation(CallKind kind) : kind_(kind) {}

  /// Sets the algorithm for which runs are counted, before the first one.
  void setAlgorithm(const std::string &name) {
    algorithm_ = &Summary::all().algorithm(kind_, name);
  }

  /// Takes over the call of the other operation, and its counters.
  void beLike(const Operation &other);
  /// Moves the count of the last run to the algorithm of the other operation.
  void countFor(const Operation &other) {
    if (algorithm_ == other.algorithm_)
      return;
    algorithm_->takeBack(sentBytes_);
    algorithm_ = other.algorithm_;
    count();
  }

  /// Moves the memory of the call by so many bytes; scratch memory stays.
  virtual void shift(ptrdiff_t sent, ptrdiff_t received) = 0;

  /// Called once counts have changed: hasShapeOf() no longer holds for any call.
  void forgetShape() { shape_ = kNoShape; }
  /// Records the arguments of the call, and the slots of either side.
  void remember(const Call &call, int sendSlots, int recvSlots);
  /// Lives until layouts are forgotten.
  Result<const TypeLayout *> layoutFor(MPI_Datatype type);
  /// Memory that lives until it is forgotten; its content is undefined. A margin separates it from
  /// all other memory, so that no piece of a message lies in both.
  std::byte *scratch(uint64_t bytes);
  bool isScratch(const void *address) const;
  /// The memory that scratch() returned first since it was forgotten, if that has room for so many
  /// bytes; else null.
  std::byte *firstScratch(uint64_t bytes);
  /// The distances in bytes from the buffers of this operation to those of the call.
  ptrdiff_t sentBy(const Call &call) const;
  ptrdiff_t receivedBy(const Call &call) const;

  /// Forgets the memory of the call that it served, but no layout.
  void forgetMemory() {
    packed_.clear();
    unpacked_.clear();
    scratchUsed_ = 0;
    sentBytes_ = 0;
  }
  void forgetLayouts() { layouts_.clear(); }

  /// Marks arguments that may change their meaning although they look the same.
  void neverQuick() { isQuick_ = false; }

  void pack() {
    if (!packed_.empty())
      packAll();
  }
  void unpack() {
    if (!unpacked_.empty())
      unpackAll();
  }

  PackedList packed_, unpacked_; ///< copied before a run; after it
  uint64_t sentBytes_ = 0;
  bool isBusy_ = false;

private:
  void packAll();
  void unpackAll();

  static constexpr uint64_t kNoShape = 0;

  CallKind kind_;
  Algorithm *algorithm_ = nullptr;
  std::vector<SharedLayout> layouts_;           ///< kept so that their ids stay valid
  std::vector<uint64_t> arguments_;             ///< without buffers: see describe()
  uint64_t shape_ = 0;                          ///< the hash of arguments_
  std::vector<std::vector<std::byte>> scratch_; ///< kept for the next call
  size_t scratchUsed_ = 0;
  bool isQuick_ = true, isSpare_ = false;
  void *sendBuffer_ = nullptr, *recvBuffer_ = nullptr;
  int sendSlots_ = 0, recvSlots_ = 0;
  uint32_t runs_ = 0;
};

/// Null: the call is for the MPI below, on all ranks.
using MadeOperation = Result<std::shared_ptr<Operation>>;

} // namespace colldsl::mpi
