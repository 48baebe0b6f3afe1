#include "mpi/CallArguments.h"

#include "ir/Concat.h"
#include "mpi/Real.h"
#include "mpi/comm/ServedComm.h"

#include <algorithm>

namespace colldsl::mpi {
namespace {

// No program has memory there.
constexpr uintptr_t kFirstPage = 4096;

constexpr bool kIsOpenMpi = COLLDSL_OPEN_MPI != 0;
constexpr bool kIsMpich = COLLDSL_MPICH != 0;
constexpr int kWrongInPlace = kIsOpenMpi ? MPI_ERR_ARG : MPI_ERR_BUFFER;

/// Equal buffers that MPICH refuses; it accepts others.
enum class AliasBelow : uint8_t {
  None,
  OwnIsSent,     ///< the send buffer is the own block of the receive buffer
  OwnIsReceived, ///< the receive buffer is the own block of the send buffer
  Same,
  SameWithData ///< unless the count is 0
};
constexpr AliasBelow kAliases[] = {
#define COLLDSL_COLLECTIVE(Kind, Name, name, shape, length, inPlace, alias) AliasBelow::alias,
#include "mpi/Collectives.def"
};

class Check {
public:
  Check(const ServedComm &comm, const Call &call) : comm_(comm), call_(call) {
    if (call.kind == CallKind::ReduceScatter && call.recv.counts)
      call_.send.count = call.recv.sumOfCounts(ranks());
  }

  WrongArgument find() {
    if (call_.lacksRequest)
      refuse(MPI_ERR_ARG, kIsMpich, "request is null");
    checkRoot();
    checkInPlace();
    checkOperator();
    checkSide(call_.send, comm_.sendSlots(call_.kind));
    checkSide(call_.recv, comm_.recvSlots(call_.kind));
    checkEdges();
    checkAliases();
    return wrong_;
  }

private:
  int ranks() const { return comm_.ranks().count(); }
  bool isRoot() const { return comm_.ranks().self() == call_.root; }
  bool isBroadcast() const { return call_.kind == CallKind::Bcast; }

  /// Keeps the first refusal.
  void refuse(int errorClass, bool isRefusedBelow, std::string reason) {
    if (!wrong_)
      wrong_ = {errorClass, isRefusedBelow && comm_.job().checksArguments(),
                concat(factsOf(call_.kind).mpiName, ": ", reason)};
  }

  /// "sendbuf", "recvcounts"; a broadcast and a reduction have one side's names.
  std::string nameOf(const BlockSide &side, const char *part) const {
    std::string_view word = part;
    bool isOnly = word == "buf" ? isBroadcast() : isBroadcast() || reduces(call_.kind);
    if (isOnly)
      return word == "buf" ? "buffer" : word == "type" ? "datatype" : std::string(word);
    return concat(&side == &call_.send ? "send" : "recv", word);
  }

  void checkRoot() {
    if (hasRoot(call_.kind) && (call_.root < 0 || call_.root >= ranks()))
      refuse(MPI_ERR_ROOT, true, concat("root is ", call_.root, " of ", ranks(), " ranks"));
  }

  void checkOperator() {
    if (reduces(call_.kind) && call_.op == MPI_OP_NULL)
      refuse(MPI_ERR_OP, true, "op is MPI_OP_NULL");
    else if (reduces(call_.kind) && call_.reducedType() == MPI_DATATYPE_NULL)
      refuse(MPI_ERR_OP, true, "datatype is MPI_DATATYPE_NULL");
  }

  /// The side that takes MPI_IN_PLACE on this rank; null: neither does.
  const BlockSide *inPlaceSide() const {
    switch (factsOf(call_.kind).inPlace) {
    case InPlace::Nowhere:
      return nullptr;
    case InPlace::Send:
      return &call_.send;
    case InPlace::RootSend:
      return isRoot() ? &call_.send : nullptr;
    case InPlace::RootRecv:
      return isRoot() ? &call_.recv : nullptr;
    }
    __builtin_unreachable();
  }

  void checkInPlace() {
    for (const BlockSide *side : {&call_.send, &call_.recv})
      if (side->isInPlace() && side != inPlaceSide())
        refuse(kWrongInPlace, false,
               concat(nameOf(*side, "buf"), " is MPI_IN_PLACE",
                      isRoot() ? "" : " away from the root"));
  }

  // The call of the MPI below checks these arguments before it sends anything. In some versions
  // other wrong arguments crash, or pass unnoticed.
  bool isCountRefusedBelow(const BlockSide &side) const {
    return kIsMpich ? !reduces(call_.kind)
                    : call_.kind != CallKind::Allgatherv && isTypeRefusedBelow(side);
  }
  bool isTypeRefusedBelow(const BlockSide &side) const {
    bool scatters = call_.kind == CallKind::Scatter || call_.kind == CallKind::Scatterv;
    return kIsMpich || !scatters || &side != &call_.send;
  }

  /// Open MPI returns other classes in some calls.
  int classOfNoCounts() const {
    bool isCount = call_.kind == CallKind::Gatherv || call_.kind == CallKind::ReduceScatter;
    return kIsOpenMpi && isCount ? MPI_ERR_COUNT : MPI_ERR_ARG;
  }
  int classOfNoPlaces() const {
    bool isBuffer =
        call_.kind == CallKind::Allgatherv || call_.kind == CallKind::NeighborAllgatherv;
    return kIsOpenMpi && isBuffer ? MPI_ERR_BUFFER : MPI_ERR_ARG;
  }

  void checkSide(const BlockSide &side, int slots) {
    if (wrong_ || side.isInPlace() || slots == 0)
      return;
    if (side.isListed && !side.counts)
      return refuse(classOfNoCounts(), false, concat(nameOf(side, "counts"), " is null"));
    if (side.inBytes && !side.types)
      return refuse(MPI_ERR_ARG, false, concat(nameOf(side, "types"), " is null"));
    if (!side.isListed)
      return checkBlock(side, 0);
    for (int slot = 0; slot < slots && !wrong_; ++slot)
      checkBlock(side, slot);
  }

  // A block without bytes may have any type.
  void checkBlock(const BlockSide &side, int slot) {
    MPI_Count count = side.countOf(slot);
    if (count < 0)
      return refuse(MPI_ERR_COUNT, isCountRefusedBelow(side),
                    concat(nameOf(side, side.isListed ? "counts" : "count"), " has ", count,
                           side.isListed ? concat(" for ", slot) : ""));
    if (count == 0)
      return;
    MPI_Datatype type = side.typeOf(slot);
    if (!knownLayoutOf(type) && !isUsable(type))
      return refuse(MPI_ERR_TYPE, isTypeRefusedBelow(side),
                    concat(nameOf(side, side.types ? "types" : "type"),
                           type == MPI_DATATYPE_NULL ? " has MPI_DATATYPE_NULL"
                                                     : " has a datatype that is not committed"));
    if (side.isPlaced && !side.displs)
      return refuse(classOfNoPlaces(), false, concat(nameOf(side, "displs"), " is null"));
    checkAddress(side, slot, type);
  }

  /// Under MPICH, true if its own check accepts the type. Open MPI accepts types that are not
  /// committed in some calls.
  bool isUsable(MPI_Datatype type) const {
    char anywhere; // with a count of 0 the type is not checked
    MPI_Request request = MPI_REQUEST_NULL;
    if (type == MPI_DATATYPE_NULL || type == MPI_Datatype{})
      return false;
    if (!kIsMpich)
      return true;
    if (real::Recv_init(&anywhere, 1, type, MPI_PROC_NULL, 0, comm_.job().own(), &request) !=
        MPI_SUCCESS)
      return false;
    real::Request_free(&request);
    return true;
  }

  /// True if a block needs no memory on this rank. MPICH requires memory for the first rank of an
  /// exscan.
  bool isUnused(const BlockSide &side, int slot) const {
    bool isOthers = call_.kind == CallKind::ReduceScatter && slot != comm_.ranks().self();
    bool isNone = call_.kind == CallKind::Exscan && comm_.ranks().self() == 0 && !kIsMpich;
    return &side == &call_.recv && (isOthers || isNone);
  }

  // MPI_BOTTOM is null; addresses are then in the displacements or in the datatype.
  void checkAddress(const BlockSide &side, int slot, MPI_Datatype type) {
    if (side.buffer || isUnused(side, slot))
      return;
    Result<SharedLayout> known = layoutOf(type);
    if (!known || (*known)->runs.empty())
      return;
    const std::byte *first = moved(side.addressOf(slot, **known), (*known)->runs.front().offset);
    if (reinterpret_cast<uintptr_t>(first) < kFirstPage)
      refuse(MPI_ERR_BUFFER, kIsMpich, concat(nameOf(side, "buf"), " is null"));
  }

  // The peer of such an edge is this rank itself, so no other rank can detect the error.
  void checkEdges() {
    if (isAlongTopology(call_.kind) && !comm_.topology().neighborhood().hasEqualEdgesToSelf)
      refuse(MPI_ERR_TOPOLOGY, false,
             "the distributed graph has another number of edges from this rank to itself among its "
             "destinations than among its sources");
  }

  void checkAliases() {
    if (!wrong_ && isAliasBelow())
      refuse(kIsOpenMpi ? MPI_ERR_ARG : MPI_ERR_BUFFER, true, "sendbuf and recvbuf are aliased");
  }

  /// True for aliases that the MPI below refuses; it accepts others.
  bool isAliasBelow() const {
    const BlockSide &send = call_.send, &recv = call_.recv;
    if (!send.buffer || !recv.buffer || send.isInPlace() || recv.isInPlace())
      return false;
    if (!kIsMpich)
      return call_.kind == CallKind::Reduce && send.buffer == recv.buffer && recv.count != 0;
    switch (kAliases[static_cast<size_t>(call_.kind)]) {
    case AliasBelow::None:
      return false;
    case AliasBelow::OwnIsSent:
      return isOwnBlock(send, recv);
    case AliasBelow::OwnIsReceived:
      return isOwnBlock(recv, send);
    case AliasBelow::Same:
      return send.buffer == recv.buffer;
    case AliasBelow::SameWithData:
      return send.buffer == recv.buffer && recv.count != 0;
    }
    __builtin_unreachable();
  }

  bool isOwnBlock(const BlockSide &one, const BlockSide &all) const {
    if (one.type != all.type || one.count == 0 || one.count != all.countOf(comm_.ranks().self()))
      return false;
    Result<SharedLayout> layout = layoutOf(all.type);
    return layout && one.buffer == all.addressOf(comm_.ranks().self(), **layout);
  }

  const ServedComm &comm_;
  Call call_; ///< of a reduce_scatter: with the count of the send side
  WrongArgument wrong_;
};

} // namespace

WrongArgument findWrongArgument(const ServedComm &comm, const Call &call) {
  return Check(comm, call).find();
}

Call significant(const Call &call, int rank) {
  Call known = call;
  if (isAlongTopology(call.kind))
    return known;
  InPlace inPlace = factsOf(call.kind).inPlace; // the other side is the root's alone
  if (inPlace == InPlace::RootSend && rank != call.root)
    known.recv = {};
  if (inPlace == InPlace::RootRecv && rank != call.root)
    known.send = {};
  for (BlockSide *side : {&known.send, &known.recv})
    if (side->isInPlace()) {
      *side = {};
      side->buffer = MPI_IN_PLACE;
    }
  return known;
}

} // namespace colldsl::mpi
