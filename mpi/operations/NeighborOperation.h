/// A neighbourhood collective: an exchange along the edges of its communicator's topology. Messages
/// to neighbours on other nodes start first, then the exchange with those of this node.
#pragma once

#include "executor/Exchange.h"
#include "mpi/comm/Neighborhood.h"
#include "mpi/operations/FarExchange.h"
#include "mpi/operations/Operation.h"

namespace colldsl::mpi {

class Job;
class ServedComm;

class NeighborOperation final : public Operation {
public:
  /// `stream`: 0 for calls that follow each other, else a persistent call's own. `choice`: the name
  /// of one of NeighborGraph::ways(), in place of the one that the graph chooses; may be null. The
  /// arguments are correct. An error: memory is short.
  static MadeOperation make(ServedComm &comm, const Call &call, uint32_t stream,
                            const TunedCollective *choice = nullptr);

  ~NeighborOperation() override;

  Status run(uint32_t number) override;
  void start(uint32_t number) override;
  bool isDone() const override { return exchange_.isDone() && (!remote_ || remote_->isDone()); }
  bool await() override { return remote_ ? isDone() : exchange_.await(); }
  bool tryFinish() override;
  Status finish() override;
  void cancel() override;
  bool progress() override;
  TunedCollective chosen() const override { return {remote_ ? remote_->way() : "direct", {}}; }

private:
  /// One slot of one side, as memory.
  using Pieces = std::vector<iovec>;

  NeighborOperation(ServedComm &comm, CallKind kind, uint32_t stream);

  void shift(ptrdiff_t sent, ptrdiff_t received) override;
  Status runAmongOthers(uint32_t number);
  void startRemote(uint32_t number);
  Status endAmongOthers();
  Status addOut(const ServedComm &comm, const Call &call, std::vector<Pieces> &toSelf);
  Status addIn(const ServedComm &comm, const Call &call, const std::vector<Pieces> &toSelf);
  void sendTo(const ServedComm &comm, int peer, const Pieces &pieces);
  void recvFrom(const ServedComm &comm, int peer, const Pieces &pieces);
  Result<Pieces> piecesOf(const BlockSide &side, int slot, PackedList &packed);

  Job &job_;
  Exchange exchange_;                   ///< with ranks of this node
  std::unique_ptr<FarExchange> remote_; ///< with ranks of other nodes; null: there are none
};

} // namespace colldsl::mpi
