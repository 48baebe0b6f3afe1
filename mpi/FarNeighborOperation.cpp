#include "mpi/FarNeighborOperation.h"

#include "mpi/RemoteRanks.h"
#include "mpi/ServedComm.h"

#include <algorithm>

namespace colldsl::mpi {
namespace {

bool isFar(const ServedComm &comm, int peer) { return comm.onNode(peer) == kNoRank; }

} // namespace

bool FarNeighborOperation::isFor(const ServedComm &comm) {
  auto leaves = [&](const Edge &edge) { return isFar(comm, edge.peer); };
  const Neighborhood &known = comm.neighborhood();
  return comm.job().remote() && (std::any_of(known.out.begin(), known.out.end(), leaves) ||
                                 std::any_of(known.in.begin(), known.in.end(), leaves));
}

FarNeighborOperation::FarNeighborOperation(ServedComm &comm, CallKind kind, uint32_t stream,
                                           uint32_t remoteStream)
    : NeighborOperation(comm, kind, stream), job_(comm.job()),
      remote_(job_.remote()->worker(),
              {comm.context().number,
               *comm.members(),
               Rank{static_cast<uint32_t>(comm.rank())},
               {remoteStream, &number_}},
              nullptr),
      far_(remote_) {}

void FarNeighborOperation::sendTo(const ServedComm &comm, int peer, const Pieces &pieces) {
  if (isFar(comm, peer))
    far_.send(Rank{static_cast<uint32_t>(peer)}, pieces);
  else
    NeighborOperation::sendTo(comm, peer, pieces);
}

void FarNeighborOperation::recvFrom(const ServedComm &comm, int peer, const Pieces &pieces) {
  if (isFar(comm, peer))
    far_.recv(Rank{static_cast<uint32_t>(peer)}, pieces);
  else
    NeighborOperation::recvFrom(comm, peer, pieces);
}

Status FarNeighborOperation::seal() {
  Status s = far_.open();
  return s ? NeighborOperation::seal() : s;
}

void FarNeighborOperation::shift(ptrdiff_t sent, ptrdiff_t received) {
  NeighborOperation::shift(sent, received);
  far_.shift(sent, received, [this](const void *address) { return isScratch(address); });
}

void FarNeighborOperation::begin(uint32_t number) {
  pack();
  number_ = number;
  far_.start();
  exchange_.start(number);
}

Status FarNeighborOperation::run(uint32_t number) {
  begin(number);
  Status s = job_.waitFor(*this);
  if (s)
    return end();
  far_.giveUp();
  exchange_.giveUp();
  return s;
}

void FarNeighborOperation::start(uint32_t number) {
  isBusy_ = true;
  job_.beginMoving(*this);
  begin(number);
}

bool FarNeighborOperation::progress() {
  bool moved = far_.progress();
  return job_.worker().progress() || moved;
}

// What is repeated to other slots may have come from far.
Status FarNeighborOperation::end() {
  Status far = far_.finish(), near = exchange_.finish();
  if (far && near)
    unpack();
  return far ? near : far;
}

Status FarNeighborOperation::finish() {
  isBusy_ = false;
  job_.endMoving(*this);
  return end();
}

void FarNeighborOperation::giveUp() {
  if (isBusy_)
    job_.endMoving(*this);
  far_.giveUp();
  NeighborOperation::giveUp();
}

} // namespace colldsl::mpi
