/// A collective with its arguments, ready to be run again and again.
#pragma once

#include "ir/Result.h"
#include "mpi/Call.h"

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

  /// Whether this is the operation of a call with such arguments. Compares the contents of lists,
  /// and datatypes by what they are, not by their handles.
  bool serves(const Call &call) const;

  /// Whether the call differs from this operation's in the places of its buffers at most. A guess:
  /// hashes are compared.
  bool hasShapeOf(const Call &call) const;

  /// Before a run for a call that it serves: its buffers are there.
  void aim(const Call &call);

  /// A whole run. Runs on a communicator are numbered alike by all its ranks.
  virtual Status run(uint32_t number) = 0;

  /// Begins one; Job::poll() moves it; after isDone(), finish() ends it.
  virtual void start(uint32_t number) = 0;
  virtual bool isDone() const = 0;
  virtual Status finish() = 0;
  /// Lets go of a run that will not be finished.
  virtual void giveUp() = 0;

  /// Moves what lanes alone do not. True: something moved.
  virtual bool progress() { return false; }

  /// Whether all its handles are predefined, which mean the same for ever.
  bool isQuick() const;

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
    bool isSent = false; ///< lies in the call's send buffer, else in that which it receives in
  };
  using PackedList = std::vector<Packed>;

  explicit Operation(CallKind kind) : kind_(kind) {}

  /// Slots of either side of the call.
  void remember(const Call &call, int sendSlots, int recvSlots);
  Result<std::shared_ptr<const TypeLayout>> layoutFor(MPI_Datatype type);
  /// Memory that lives as long as the operation.
  std::byte *scratch(uint64_t bytes);

  /// Serves a call wherever its buffers are. All of its memory is in the packed lists.
  void letFloat() { floats_ = true; }
  bool floats() const { return floats_; }

  /// For arguments that may mean something else another time, although they look the same.
  void neverQuick() { isQuick_ = false; }

  bool isPacked() const { return !packed_.empty() || !unpacked_.empty(); }
  void pack();
  void unpack();

  PackedList packed_, unpacked_; ///< before a run, after it
  uint64_t sentBytes_ = 0;
  bool isBusy_ = false;

private:
  CallKind kind_;
  std::vector<std::shared_ptr<const TypeLayout>> layouts_; ///< kept, so that their ids are
  std::vector<uint64_t> arguments_;                        ///< see describe()
  std::vector<std::unique_ptr<std::byte[]>> scratch_;
  bool isQuick_ = true;
  bool floats_ = false;
  uint64_t shape_ = 0; ///< hash of the arguments, without the places of buffers
  int sendSlots_ = 0, recvSlots_ = 0;
  uint32_t runs_ = 0;
};

} // namespace colldsl::mpi
