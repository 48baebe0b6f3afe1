/// A neighbourhood collective: an exchange along the edges of its communicator's topology.
#pragma once

#include "executor/Exchange.h"
#include "mpi/Neighborhood.h"
#include "mpi/Operation.h"

namespace colldsl::mpi {

class ServedComm;

class NeighborOperation : public Operation {
public:
  /// `stream`: 0 for calls that follow each other, else a persistent call's own. Null: the
  /// arguments are for the MPI below to refuse. An error: memory is short.
  static Result<std::shared_ptr<Operation>> make(ServedComm &comm, const Call &call,
                                                 uint32_t stream);

  Status run(uint32_t number) override;
  void start(uint32_t number) override;
  bool isDone() const override { return exchange_.isDone(); }
  bool await() override { return exchange_.await(); }
  bool tryFinish() override;
  Status finish() override;
  void giveUp() override;

protected:
  /// One slot of one side, as memory.
  using Pieces = std::vector<iovec>;

  NeighborOperation(ServedComm &comm, CallKind kind, uint32_t stream);

  /// What goes to another rank of the communicator, and what comes from there; then all is known.
  virtual void sendTo(const ServedComm &comm, int peer, const Pieces &pieces);
  virtual void recvFrom(const ServedComm &comm, int peer, const Pieces &pieces);
  virtual Status seal() { return exchange_.seal(); }
  void shift(ptrdiff_t sent, ptrdiff_t received) override;

  Exchange exchange_;

private:
  Status addEdges(const ServedComm &comm, const Call &call);
  Status addOut(const ServedComm &comm, const Call &call, std::vector<Pieces> &toSelf);
  Status addIn(const ServedComm &comm, const Call &call, const std::vector<Pieces> &toSelf);
  Result<Pieces> piecesOf(const Side &side, int slot, PackedList &packed);
};

} // namespace colldsl::mpi
