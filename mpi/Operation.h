/// A neighbourhood collective with its arguments, ready to be run again and again.
#pragma once

#include "executor/Exchange.h"
#include "mpi/Call.h"
#include "mpi/Neighborhood.h"

#include <memory>
#include <vector>

namespace colldsl::mpi {

class ServedComm;

class Operation {
public:
  /// `stream`: 0 for calls that follow each other, else a persistent call's own.
  static Result<std::shared_ptr<Operation>> make(ServedComm &comm, const Call &call,
                                                 uint32_t stream);

  /// Whether this is the operation of a call with such arguments. Compares the contents of lists,
  /// and datatypes by what they are, not by their handles.
  bool serves(const Call &call) const;

  /// A whole run.
  Status run(uint32_t number);

  /// Begins one; Job::poll() moves it; after isDone(), finish() ends it.
  void start(uint32_t number);
  bool isDone() const { return exchange_.isDone(); }
  Status finish();
  /// Lets go of a run that will not be finished.
  void giveUp();

  /// Whether all its datatypes are predefined.
  bool hasNamedTypes() const;

  bool isBusy() const { return isBusy_; }
  CallKind kind() const { return kind_; }
  uint64_t sentBytes() const { return sentBytes_; } ///< of a run, those to this rank itself too
  uint32_t nextRun() { return ++runs_; }            ///< of a persistent one

private:
  /// Scattered bytes, moved through memory in one piece.
  struct Packed {
    std::shared_ptr<const TypeLayout> layout;
    std::byte *buffer;
    uint64_t bytes;
    std::unique_ptr<std::byte[]> memory;
  };
  /// One slot of one side, as memory.
  using Pieces = std::vector<iovec>;

  Operation(ServedComm &comm, CallKind kind, uint32_t stream);
  Status addEdges(const ServedComm &comm, const Call &call);
  Status addOut(const ServedComm &comm, const Call &call, std::vector<Pieces> &toSelf);
  Status addIn(const ServedComm &comm, const Call &call, const std::vector<Pieces> &toSelf);
  Result<Pieces> piecesOf(const Side &side, int slot, std::vector<Packed> &packed);
  void remember(const Call &call, const Neighborhood &neighborhood);
  void pack();
  void unpack();

  Exchange exchange_;
  CallKind kind_;
  uint64_t sentBytes_ = 0;
  std::vector<Packed> packed_, unpacked_;
  std::vector<std::shared_ptr<const TypeLayout>> layouts_; ///< kept, so that their ids are
  std::vector<uint64_t> arguments_;                        ///< see describe()
  int outdegree_ = 0, indegree_ = 0;
  bool isBusy_ = false;
  uint32_t runs_ = 0;
};

} // namespace colldsl::mpi
