#include "mpi/operations/NeighborOperation.h"

#include "mpi/comm/ServedComm.h"

#include <algorithm>
#include <numeric>

namespace colldsl::mpi {
namespace {

// Shorter pieces than this are cheaper to pack than to list, if there are many.
constexpr uint64_t kShortPiece = 256;
constexpr size_t kManyPieces = 16;

uint64_t bytesOf(const std::vector<iovec> &pieces) {
  return std::accumulate(pieces.begin(), pieces.end(), uint64_t{0},
                         [](uint64_t sum, const iovec &piece) { return sum + piece.iov_len; });
}

bool isRemote(const ServedComm &comm, int peer) { return comm.ranks().onNode(peer) == kNoRank; }

/// True if this rank has neighbours on other nodes, or may have to relay messages of others.
bool hasRemoteNeighbors(const ServedComm &comm) {
  auto leaves = [&](const Edge &edge) { return isRemote(comm, edge.peer); };
  const Neighborhood &known = comm.topology().neighborhood();
  return comm.topology().graph() ||
         (comm.job().remote() && (std::any_of(known.out.begin(), known.out.end(), leaves) ||
                                  std::any_of(known.in.begin(), known.in.end(), leaves)));
}

} // namespace

NeighborOperation::NeighborOperation(ServedComm &comm, CallKind kind, uint32_t stream)
    : Operation(kind), job_(comm.job()), exchange_(job_.worker(), comm.runs().progressOf(stream)) {}

NeighborOperation::~NeighborOperation() {
  if (remote_)
    cancel();
}

MadeOperation NeighborOperation::make(ServedComm &comm, const Call &call, uint32_t stream,
                                      const TunedCollective *choice) {
  std::shared_ptr<NeighborOperation> operation(new NeighborOperation(comm, call.kind, stream));
  if (hasRemoteNeighbors(comm)) {
    NeighborGraph::Way way =
        choice ? comm.topology().graph()->way(call.send.isSame, choice->name) : nullptr;
    auto remote = FarExchange::make(comm, call.send.isSame, stream, std::move(way));
    if (!remote)
      return remote.status();
    operation->remote_ = remote.take();
  }
  std::vector<Pieces> toSelf;
  if (Status s = operation->addOut(comm, call, toSelf); !s)
    return s;
  if (Status s = operation->addIn(comm, call, toSelf); !s)
    return s;
  if (operation->remote_)
    if (Status s = operation->remote_->open(); !s)
      return s;
  if (Status s = operation->exchange_.seal(); !s)
    return s;
  operation->setAlgorithm(choice ? choice->name : "exchange");
  operation->remember(call, comm.sendSlots(call.kind), comm.recvSlots(call.kind));
  return std::shared_ptr<Operation>(std::move(operation));
}

void NeighborOperation::sendTo(const ServedComm &comm, int peer, const Pieces &pieces) {
  if (isRemote(comm, peer))
    remote_->send(peer, pieces);
  else
    exchange_.send(comm.ranks().onNode(peer), pieces);
}

void NeighborOperation::recvFrom(const ServedComm &comm, int peer, const Pieces &pieces) {
  if (isRemote(comm, peer))
    remote_->recv(peer, pieces);
  else
    exchange_.recv(comm.ranks().onNode(peer), pieces);
}

// A block that all slots share goes to each peer once.
Status NeighborOperation::addOut(const ServedComm &comm, const Call &call,
                                 std::vector<Pieces> &toSelf) {
  int before = MPI_PROC_NULL;
  Pieces pieces;
  for (const Edge &edge : comm.topology().neighborhood().out) {
    bool isRepeated = call.send.isSame && edge.peer == before;
    if (!isRepeated) {
      Result<Pieces> made = piecesOf(call.send, edge.slot, packed_);
      if (!made)
        return made.status();
      pieces = made.take();
    }
    before = edge.peer;
    sentBytes_ += bytesOf(pieces);
    if (edge.peer == comm.ranks().self())
      toSelf.push_back(pieces);
    else if (!isRepeated)
      sendTo(comm, edge.peer, pieces);
  }
  return {};
}

// Messages of this rank to itself are paired in order, as with any other peer. Slots whose lengths
// differ from that of the first slot of their peer are received with it, so that the difference is
// detected.
Status NeighborOperation::addIn(const ServedComm &comm, const Call &call,
                                const std::vector<Pieces> &toSelf) {
  size_t self = 0;
  int before = MPI_PROC_NULL;
  Pieces first;
  for (const Edge &edge : comm.topology().neighborhood().in) {
    Result<Pieces> pieces = piecesOf(call.recv, edge.slot, unpacked_);
    if (!pieces)
      return pieces.status();
    if (edge.peer == comm.ranks().self()) {
      exchange_.copy(*pieces, toSelf[self++]);
      continue;
    }
    if (call.send.isSame && edge.peer == before && bytesOf(*pieces) == bytesOf(first)) {
      exchange_.repeat(*pieces, first);
      continue;
    }
    recvFrom(comm, edge.peer, *pieces);
    if (edge.peer != before)
      first = pieces.take();
    before = edge.peer;
  }
  return {};
}

Result<NeighborOperation::Pieces> NeighborOperation::piecesOf(const BlockSide &side, int slot,
                                                              PackedList &packed) {
  Pieces pieces;
  MPI_Count count = side.countOf(slot);
  if (count == 0)
    return pieces;
  Result<const TypeLayout *> layout = layoutFor(side.typeOf(slot));
  if (!layout)
    return layout.status();
  std::byte *address = side.addressOf(slot, **layout);
  uint64_t bytes = static_cast<uint64_t>(count) * (*layout)->size;
  if (bytes == 0)
    return pieces;
  size_t atMost = (*layout)->isDense() ? 1 : (*layout)->runs.size() * static_cast<size_t>(count);
  if (atMost > kManyPieces && bytes / atMost < kShortPiece) {
    packed.push_back({*layout, address, bytes, scratch(bytes), &packed == &packed_});
    pieces.push_back({packed.back().memory, bytes});
  } else {
    listBytes(**layout, address, static_cast<uint64_t>(count), pieces);
  }
  return pieces;
}

void NeighborOperation::shift(ptrdiff_t sent, ptrdiff_t received) {
  auto stays = [this](const void *address) { return isScratch(address); };
  exchange_.shift(sent, received, stays);
  if (remote_)
    remote_->shift(sent, received, stays);
}

// The paths with remote edges, and with other operations, are functions of their own: the common
// path is counted in instructions.
Status NeighborOperation::run(uint32_t number) {
  if (remote_ || job_.movesAny()) [[unlikely]]
    return runAmongOthers(number);
  pack();
  Status s = exchange_.run(number);
  if (s)
    unpack();
  return s;
}

Status NeighborOperation::runAmongOthers(uint32_t number) {
  pack();
  if (remote_)
    remote_->start(number);
  exchange_.start(number);
  Status s = job_.waitFor(*this);
  if (s)
    return endAmongOthers();
  if (remote_)
    remote_->cancel();
  exchange_.cancel();
  return s;
}

// Bytes that are repeated to other slots may have come from another node.
Status NeighborOperation::endAmongOthers() {
  Status remote = remote_ ? remote_->finish() : Status(), local = exchange_.finish();
  if (remote && local)
    unpack();
  else
    job_.keepAnswering();
  return remote ? local : remote;
}

void NeighborOperation::start(uint32_t number) {
  isBusy_ = true;
  pack();
  if (remote_) [[unlikely]]
    startRemote(number);
  exchange_.start(number);
}

void NeighborOperation::startRemote(uint32_t number) {
  job_.beginMoving(*this);
  remote_->start(number);
}

bool NeighborOperation::progress() {
  bool moved = remote_ && remote_->progress();
  return job_.worker().progress() || moved;
}

void NeighborOperation::cancel() {
  if (remote_ && isBusy_)
    job_.endMoving(*this);
  isBusy_ = false;
  if (remote_)
    remote_->cancel();
  exchange_.cancel();
}

bool NeighborOperation::tryFinish() {
  if (remote_ || !exchange_.tryFinish())
    return false;
  isBusy_ = false;
  unpack();
  return true;
}

Status NeighborOperation::finish() {
  isBusy_ = false;
  if (remote_) [[unlikely]] {
    job_.endMoving(*this);
    return endAmongOthers();
  }
  Status s = exchange_.finish();
  if (s)
    unpack();
  return s;
}

} // namespace colldsl::mpi
