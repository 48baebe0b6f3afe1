#include "mpi/Operation.h"

#include "mpi/ServedComm.h"

#include <algorithm>
#include <numeric>

namespace colldsl::mpi {
namespace {

// Shorter pieces than this are cheaper to pack than to list, if there are many.
constexpr uint64_t kShortPiece = 256;
constexpr size_t kManyPieces = 16;

uint64_t idOf(MPI_Datatype type) {
  const TypeLayout *layout = knownLayoutOf(type);
  return layout ? layout->id : 0;
}

uint64_t bytesOf(const std::vector<iovec> &pieces) {
  return std::accumulate(pieces.begin(), pieces.end(), uint64_t{0},
                         [](uint64_t sum, const iovec &piece) { return sum + piece.iov_len; });
}

/// Calls visit(word) for each word that says what a call is, until one returns false.
template <typename Visit> bool describeSide(const Side &side, int slots, Visit &visit) {
  if (!visit(reinterpret_cast<uint64_t>(side.buffer)))
    return false;
  if (!side.types && !visit(idOf(side.type)))
    return false;
  if (!side.counts)
    return visit(static_cast<uint64_t>(side.count));
  for (int slot = 0; slot < slots; ++slot)
    if (!visit(static_cast<uint64_t>(side.countOf(slot))) ||
        !visit(static_cast<uint64_t>(side.displOf(slot))) ||
        (side.types && !visit(idOf(side.types[slot]))))
      return false;
  return true;
}

template <typename Visit>
bool describe(const Call &call, int outdegree, int indegree, Visit visit) {
  return visit(static_cast<uint64_t>(call.kind)) && describeSide(call.send, outdegree, visit) &&
         describeSide(call.recv, indegree, visit);
}

} // namespace

Operation::Operation(ServedComm &comm, CallKind kind, uint32_t stream)
    : exchange_(comm.job().lanes(), comm.context().number, stream, comm.context().owner),
      kind_(kind) {}

Result<std::shared_ptr<Operation>> Operation::make(ServedComm &comm, const Call &call,
                                                   uint32_t stream) {
  std::shared_ptr<Operation> operation(new Operation(comm, call.kind, stream));
  if (Status s = operation->addEdges(comm, call); !s)
    return s;
  if (Status s = operation->exchange_.seal(); !s)
    return s;
  operation->remember(call, comm.neighborhood());
  return operation;
}

Status Operation::addEdges(const ServedComm &comm, const Call &call) {
  std::vector<Pieces> toSelf;
  Status s = addOut(comm, call, toSelf);
  return s ? addIn(comm, call, toSelf) : s;
}

// A block that is the same for all slots goes to each peer once.
Status Operation::addOut(const ServedComm &comm, const Call &call, std::vector<Pieces> &toSelf) {
  int before = MPI_PROC_NULL;
  Pieces pieces;
  for (const Edge &edge : comm.neighborhood().out) {
    bool isRepeated = call.send.isSame && edge.peer == before;
    if (!isRepeated) {
      Result<Pieces> made = piecesOf(call.send, edge.slot, packed_);
      if (!made)
        return made.status();
      pieces = made.take();
    }
    before = edge.peer;
    sentBytes_ += bytesOf(pieces);
    if (edge.peer == comm.rank())
      toSelf.push_back(pieces);
    else if (!isRepeated)
      exchange_.send(comm.onMachine(edge.peer), pieces);
  }
  return {};
}

// What this rank sends to itself is paired in order, as with any other peer. Slots of other lengths
// than the first of their peer are received with it, so that the lengths are found to differ.
Status Operation::addIn(const ServedComm &comm, const Call &call,
                        const std::vector<Pieces> &toSelf) {
  size_t self = 0;
  int before = MPI_PROC_NULL;
  Pieces first;
  for (const Edge &edge : comm.neighborhood().in) {
    Result<Pieces> pieces = piecesOf(call.recv, edge.slot, unpacked_);
    if (!pieces)
      return pieces.status();
    if (edge.peer == comm.rank()) {
      exchange_.copy(*pieces, toSelf[self++]);
      continue;
    }
    if (call.send.isSame && edge.peer == before && bytesOf(*pieces) == bytesOf(first)) {
      exchange_.repeat(*pieces, first);
      continue;
    }
    exchange_.recv(comm.onMachine(edge.peer), *pieces);
    if (edge.peer != before)
      first = pieces.take();
    before = edge.peer;
  }
  return {};
}

Result<Operation::Pieces> Operation::piecesOf(const Side &side, int slot,
                                              std::vector<Packed> &packed) {
  Result<std::shared_ptr<const TypeLayout>> layout = layoutOf(side.typeOf(slot));
  if (!layout)
    return layout.status();
  MPI_Count count = side.countOf(slot);
  if (count < 0)
    return Status::error("a count is negative");
  if (std::find(layouts_.begin(), layouts_.end(), *layout) == layouts_.end())
    layouts_.push_back(*layout);
  std::byte *address = side.addressOf(slot, **layout);
  uint64_t bytes = static_cast<uint64_t>(count) * (*layout)->size;
  Pieces pieces;
  if (bytes == 0)
    return pieces;
  size_t atMost = (*layout)->isDense() ? 1 : (*layout)->runs.size() * static_cast<size_t>(count);
  if (atMost > kManyPieces && bytes / atMost < kShortPiece) {
    packed.push_back({*layout, address, bytes, std::make_unique<std::byte[]>(bytes)});
    pieces.push_back({packed.back().memory.get(), bytes});
  } else {
    listBytes(**layout, address, static_cast<uint64_t>(count), pieces);
  }
  return pieces;
}

void Operation::remember(const Call &call, const Neighborhood &neighborhood) {
  outdegree_ = neighborhood.outdegree;
  indegree_ = neighborhood.indegree;
  describe(call, outdegree_, indegree_, [&](uint64_t word) {
    arguments_.push_back(word);
    return true;
  });
}

bool Operation::hasNamedTypes() const {
  return std::all_of(layouts_.begin(), layouts_.end(),
                     [](const auto &layout) { return layout->isNamed; });
}

bool Operation::serves(const Call &call) const {
  const uint64_t *at = arguments_.data();
  return describe(call, outdegree_, indegree_, [&](uint64_t word) { return *at++ == word; });
}

void Operation::pack() {
  for (const Packed &p : packed_)
    mpi::pack(*p.layout, p.buffer, 0, p.bytes, p.memory.get());
}

void Operation::unpack() {
  for (const Packed &p : unpacked_)
    mpi::unpack(*p.layout, p.buffer, 0, p.bytes, p.memory.get());
}

Status Operation::run(uint32_t number) {
  if (packed_.empty() && unpacked_.empty())
    return exchange_.run(number);
  pack();
  Status s = exchange_.run(number);
  if (s)
    unpack();
  return s;
}

void Operation::start(uint32_t number) {
  isBusy_ = true;
  pack();
  exchange_.start(number);
}

void Operation::giveUp() {
  isBusy_ = false;
  exchange_.giveUp();
}

Status Operation::finish() {
  isBusy_ = false;
  Status s = exchange_.finish();
  if (s)
    unpack();
  return s;
}

} // namespace colldsl::mpi
