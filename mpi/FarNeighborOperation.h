/// A neighbourhood collective of a rank that has neighbours on other nodes: messages to these start
/// first, then the exchange with those of this node.
#pragma once

#include "mpi/FarEdges.h"
#include "mpi/NeighborOperation.h"
#include "protocol/RemoteEndpoint.h"

namespace colldsl::mpi {

class Job;

class FarNeighborOperation final : public NeighborOperation {
public:
  /// Whether this rank has such neighbours.
  static bool isFor(const ServedComm &comm);

  /// `stream`: of the exchange; `remoteStream`: as RemoteRanks::streamOf() has it.
  FarNeighborOperation(ServedComm &comm, CallKind kind, uint32_t stream, uint32_t remoteStream);

  ~FarNeighborOperation() override { giveUp(); }

  Status run(uint32_t number) override;
  void start(uint32_t number) override;
  bool isDone() const override { return far_.isDone() && exchange_.isDone(); }
  bool await() override { return isDone(); }
  bool tryFinish() override { return false; }
  Status finish() override;
  void giveUp() override;
  bool progress() override;

private:
  void sendTo(const ServedComm &comm, int peer, const Pieces &pieces) override;
  void recvFrom(const ServedComm &comm, int peer, const Pieces &pieces) override;
  Status seal() override;
  void shift(ptrdiff_t sent, ptrdiff_t received) override;
  void begin(uint32_t number);
  Status end();

  Job &job_;
  uint32_t number_ = 0; ///< of the run
  protocol::RemoteEndpoint remote_;
  FarEdges far_;
};

} // namespace colldsl::mpi
