#include "mpi/operations/OperationCache.h"

#include "mpi/PrintMessage.h"
#include "mpi/Settings.h"
#include "mpi/comm/ServedComm.h"
#include "mpi/learn/LearnedOperation.h"
#include "mpi/operations/CollectiveOperation.h"
#include "mpi/operations/NeighborOperation.h"
#include "runtime/MemoryReserve.h"

namespace colldsl::mpi {
namespace {

// The most calls with an operation each, among calls that differ only in the addresses of their
// buffers.
constexpr size_t kPlaces = 2;

} // namespace

MadeOperation OperationCache::find(const Call &call, WrongArgument &wrong) {
  DeviceAgreement &devices = comm_.devices();
  if (Accelerators::arePresent())
    if (Status s = devices.check(call); !s)
      return s;
  if (!call.lacksRequest && isSameAsLast(call) && idle(call.kind))
    return last(call.kind);
  Quick &quick = quick_[static_cast<size_t>(call.kind)];
  Call known = significant(call, comm_.ranks().self());
  MadeOperation followed = std::shared_ptr<Operation>();
  if (mayFollow(call))
    followed = unlessMemoryIsShort([&] { return MadeOperation(prepared_.follow(known)); });
  if (!followed) { // the operation of the last call may be bound in part
    quick = {};
    return followed;
  }
  if (*followed) {
    Summary::all().countResized();
    quick = {call.hasLists() ? nullptr : *followed, call};
    return followed;
  }
  if (call.op != MPI_OP_NULL && Reduction::isKnownUnserved(call.op, call.reducedType()))
    return std::shared_ptr<Operation>();
  MadeOperation operation = unlessMemoryIsShort([&] {
    comm_.applyAgreedHints();
    return trusts(call) ? fixedOrFound(call, wrong) : findOrMake(known, wrong);
  });
  // The set of quick calls differs between ranks, and quick calls are not counted.
  bool isQuick = operation && *operation && !comm_.firstCalls().includes(call.kind) &&
                 !devices.mayUseDevices() &&
                 (trusts(call) || (!call.hasLists() && (*operation)->isQuick()));
  quick = {isQuick ? *operation : nullptr, call};
  return operation;
}

bool OperationCache::mayFollow(const Call &call) const {
  return !call.lacksRequest && call.kind != CallKind::Alltoallw && !isAlongTopology(call.kind) &&
         !comm_.learner() && !comm_.firstCalls().includes(call.kind) &&
         !comm_.devices().mayUseDevices();
}

// Only words are compared. If these differ the call takes the path of any other: either its lists
// have moved, or the hint is wrong, and no rank has to wait for that.
MadeOperation OperationCache::fixedOrFound(const Call &call, WrongArgument &wrong) {
  Fixed &fixed = fixed_[static_cast<size_t>(call.kind)];
  bool isKnown = fixed.operation != nullptr;
  if (isKnown && !fixed.operation->isBusy() && fixed.call.isSameAs(call))
    return fixed.operation;
  bool isBroken = isKnown && !fixed.operation->serves(call);
  MadeOperation found = findOrMake(call, wrong);
  if (isBroken)
    distrust(call.kind);
  else if (found && *found)
    fixed = {*found, call};
  return found;
}

void OperationCache::distrust(CallKind kind) {
  fixed_.clear();
  comm_.revokeStaticBuffers();
  if (Settings::all().isVerbose())
    printMessage("colldsl: rank %d of %d: arguments of %s changed, against cdag_static_buffers; "
                 "from now on they are compared\n",
                 comm_.ranks().self(), comm_.ranks().count(), factsOf(kind).name);
}

// A kind whose arguments stay has no other prepared operations.
void OperationCache::trustArguments(bool areFixed) {
  quick_.fill({});
  fixed_.clear();
  fixed_.resize(areFixed ? kTopologyKinds : 0);
}

void OperationCache::leaveJob() {
  quick_.fill({});
  fixed_.clear();
  prepared_.clear();
}

// A program that rotates among some buffers has an operation for each, up to kPlaces; beyond, the
// least recently used operation moves.
MadeOperation OperationCache::findOrMake(const Call &call, WrongArgument &wrong) {
  PreparedOperations::Found found = prepared_.find(call);
  if (!found.isThere || call.lacksRequest)
    if (wrong = findWrongArgument(comm_, call); wrong)
      return Status::error(wrong.reason);
  // New memory may belong to a driver that was loaded since.
  bool isNew = !found.isThere && !quickOf(call.kind).call.hasBuffersOf(call);
  if (isNew && !Accelerators::arePresent() && DeviceAgreement::look())
    if (Status s = comm_.devices().check(call); !s)
      return s;
  if (!found.operation)
    return resizeOrMake(call);
  if (!found.isThere && (found.places < kPlaces || !found.operation->mayMoveTo(call)))
    return make(call);
  found.operation->willServe(call);
  if (!found.isThere)
    found.operation->moveTo(call);
  return std::move(found.operation);
}

// Calls whose arguments change each time share one plan.
MadeOperation OperationCache::resizeOrMake(const Call &call) {
  std::shared_ptr<Operation> resized = comm_.learner() ? nullptr : prepared_.resize(call);
  if (!resized)
    return make(call);
  Summary::all().countResized();
  return resized;
}

MadeOperation OperationCache::make(const Call &call) {
  if (Status s = checkReserve(); !s)
    return s;
  MadeOperation made = makeOrLearn(call);
  if (!made || !*made)
    return made;
  prepared_.put(*made);
  Summary::all().countPrepared();
  return made;
}

MadeOperation OperationCache::makeOrLearn(const Call &call) {
  bool isForAll = !isAlongTopology(call.kind);
  std::shared_ptr<PlanGroup> plans = isForAll ? comm_.runs().plansOfNext() : nullptr;
  Learner *learner = memory_ == CallMemory::Host ? comm_.learner() : nullptr;
  if (std::optional<LearnedKey> key = learner ? learner->keyOf(call) : std::nullopt)
    return LearnedOperation::make(*learner, *key, call);
  return isForAll ? CollectiveOperation::make(comm_, std::move(plans), call, {.memory = memory_})
                  : NeighborOperation::make(comm_, call, 0);
}

} // namespace colldsl::mpi
