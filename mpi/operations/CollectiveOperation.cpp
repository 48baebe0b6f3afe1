#include "mpi/operations/CollectiveOperation.h"

#include "ir/Concat.h"
#include "mpi/CallArguments.h"
#include "mpi/CallSummary.h"
#include "mpi/Settings.h"
#include "mpi/comm/ServedComm.h"

#include <algorithm>
#include <thread>

namespace colldsl::mpi {
namespace {

/// "bcast_chain, rule 5 for bcast, root=0, segment=65536, instantiated, not proved".
std::string inWords(const CollectivePlan &plan) {
  std::string arguments = plan.argumentsInWords();
  std::string words = concat(plan.collective(), ", ", plan.reason(), arguments.empty() ? "" : ", ",
                             arguments, plan.image() ? ", image" : ", instantiated");
  if (plan.image() && !plan.passes().empty())
    words += concat(" by ", plan.passes());
  if (!plan.remarks().empty())
    words += concat(", ", plan.remarks());
  return concat(words, ", ", plan.proof().inWords());
}

/// True if the library's function has a form in place; else a call in place copies its input.
bool hasFormInPlace(CallKind kind) {
  return kind == CallKind::Allgather || kind == CallKind::Allgatherv ||
         kind == CallKind::Allreduce || kind == CallKind::Scan || kind == CallKind::Exscan;
}

} // namespace

// In the placed form of an allgather a rank knows only the lengths of its own blocks, which may lie
// anywhere. A reduce_scatter between nodes has its lengths as values, with which more algorithms
// are possible; within a node it has one schedule for all lists.
const char *CollectiveOperation::functionOf(const ServedComm &comm, CallKind kind) {
  switch (kind) {
  case CallKind::Allgatherv:
    return "allgatherv_placed";
  case CallKind::Alltoallw: // of bytes
    return "alltoallv";
  case CallKind::ReduceScatter:
    return comm.ranks().areSpread() ? "reduce_scatter" : "reduce_scatterv";
  default:
    return factsOf(kind).name;
  }
}

CollectiveOperation::CollectiveOperation(ServedComm &comm, std::shared_ptr<PlanGroup> group,
                                         const Call &call, const TunedCollective *choice)
    : Operation(call.kind), group_(std::move(group)), rank_(comm.ranks().self()),
      ranks_(comm.ranks().count()),
      isOfOneList_(call.kind == CallKind::ReduceScatter && comm.ranks().areSpread()),
      plan_(group_->communicator(), comm.job().library(),
            choice ? choice->name : functionOf(comm, call.kind)) {
  // Cannot fail: the plan is not committed yet.
  if (Library *own = choice ? nullptr : comm.job().ownLibraryFor(functionOf(comm, call.kind)))
    (void)plan_.preferLibrary(*own, comm.job().ownCompiler());
  (void)plan_.setCompiler(isOfOneList_ ? comm.job().listCompiler() : comm.job().compiler());
  for (size_t i = 0; choice && i < choice->values.size(); ++i)
    (void)plan_.setValue(choice->values[i].parameter, choice->values[i].value);
}

/// Null: the call is for the MPI below, on all ranks, since operator and datatype are alike on
/// them.
Result<std::shared_ptr<CollectiveOperation>>
CollectiveOperation::described(ServedComm &comm, std::shared_ptr<PlanGroup> group, Call call,
                               const Options &options) {
  call.send.isSent = true;
  std::shared_ptr<CollectiveOperation> operation(
      new CollectiveOperation(comm, std::move(group), call, options.choice));
  if (options.memory == CallMemory::Devices) {
    Result<const device::CudaDriver *> driver = device::cudaDriver();
    if (!driver)
      return driver.status();
    operation->device_ = std::make_unique<OperationDevice>(**driver);
    // Neither can fail: the plan is not committed yet.
    (void)operation->plan_.setDeviceOnly(true);
    (void)operation->plan_.setNeverCaptured();
  }
  Status s = operation->describe(call);
  if (!s && call.op != MPI_OP_NULL && !operation->reduction_)
    return std::shared_ptr<CollectiveOperation>();
  if (!s)
    return s;
  return operation;
}

void CollectiveOperation::complete(const Call &call) {
  remember(call, ranks_, ranks_);
  made_ = call;
  isPlain_ = packed_.empty() && unpacked_.empty() && !holdsType() && !device_;
}

MadeOperation CollectiveOperation::make(ServedComm &comm, std::shared_ptr<PlanGroup> group,
                                        const Call &call, const Options &options) {
  Result<std::shared_ptr<CollectiveOperation>> described =
      CollectiveOperation::described(comm, std::move(group), call, options);
  if (!described)
    return described.status();
  if (!*described)
    return std::shared_ptr<Operation>();
  std::shared_ptr<CollectiveOperation> operation = described.take();
  CollectivePlan &plan = operation->plan_;
  Status committed = plan.commit();
  if (!committed && committed.kind() == ErrorKind::NotProved) { // on all ranks
    comm.job().note(concat(functionOf(comm, call.kind), ": passed on, ", committed.message()));
    Summary::all().countUnproved(call.kind, committed.message());
    return std::shared_ptr<Operation>();
  }
  if (!committed)
    return committed;
  operation->setAlgorithm(plan.collective());
  operation->complete(call);
  operation->isPersistent_ = options.isPersistent;
  if (options.isPersistent && operation->holdsType())
    comm.job().typesInUse().begin(operation->reduction_->heldType());
  if (Settings::all().isVerbose()) {
    std::string transfers = plan.plan().transfers().inWords();
    comm.job().note(concat(functionOf(comm, call.kind), ": ", inWords(plan),
                           operation->device_ ? ", from device to device" : "",
                           transfers.empty() ? "" : ", ", transfers));
  }
  return std::shared_ptr<Operation>(std::move(operation));
}

std::shared_ptr<CollectiveOperation> CollectiveOperation::prepare(ServedComm &comm,
                                                                  std::shared_ptr<PlanGroup> group,
                                                                  const Call &call,
                                                                  const TunedCollective &choice) {
  Result<std::shared_ptr<CollectiveOperation>> operation =
      described(comm, std::move(group), call, {.choice = &choice});
  if (!operation || !*operation || !(*operation)->plan_.tryOut())
    return nullptr;
  (*operation)->setAlgorithm((*operation)->plan_.collective());
  (*operation)->complete(call);
  return operation.take();
}

CollectiveOperation::~CollectiveOperation() {
  cancel();
  if (isPersistent_ && holdsType())
    group_->job().typesInUse().end(reduction_->heldType());
}

bool CollectiveOperation::Area::touches(const Area &other, ptrdiff_t by, ptrdiff_t otherBy) const {
  auto first = reinterpret_cast<uintptr_t>(begin) + static_cast<uintptr_t>(by);
  auto second = reinterpret_cast<uintptr_t>(other.begin) + static_cast<uintptr_t>(otherBy);
  return bytes != 0 && other.bytes != 0 && first < second + other.bytes && second < first + bytes;
}

// Overlapping buffers are wrong, but the MPI below has accepted them: the input is copied, so that
// the result is that of disjoint buffers.
Status CollectiveOperation::describe(const Call &call) {
  copiesInput_ = false;
  Status s = describeOnce(call);
  if (!s || !in_.touches(out_, 0, 0))
    return s;
  copiesInput_ = true;
  group_->job().noteHere(concat(factsOf(call.kind).mpiName,
                                ": sendbuf and recvbuf overlap, without "
                                "MPI_IN_PLACE; sendbuf is copied"));
  forgetBuffers();
  return describeOnce(call);
}

// With a copied input the buffers may be anywhere on the host; scratch memory of a device is of one
// context.
bool CollectiveOperation::mayMoveTo(const Call &call) const {
  if (device_ && device_->hasScratch())
    return false;
  return copiesInput_ || !in_.touches(out_, sentBy(call), receivedBy(call));
}

Status CollectiveOperation::describeOnce(const Call &call) {
  direct_.clear();
  isDirect_ = true;
  in_ = out_ = {};
  if (!plan_.isCommitted())
    if (Status s = setArguments(call); !s)
      return s;
  switch (call.kind) {
  case CallKind::Barrier:
    return {};
  case CallKind::Bcast:
    return bind("buf", call.recv, 1, rank_ == call.root ? Way::In : Way::Out);
  case CallKind::Gather:
  case CallKind::Gatherv:
    return describeRooted(call, "x", "y", Way::Out);
  case CallKind::Scatter:
  case CallKind::Scatterv:
    return describeRooted(call, "y", "x", Way::In);
  case CallKind::Reduce:
  case CallKind::Allreduce:
  case CallKind::Scan:
  case CallKind::Exscan:
    return describeReduction(call);
  case CallKind::ReduceScatter:
    return describeReduceScatter(call);
  case CallKind::ReduceScatterBlock:
    return describeReduceScatterBlock(call);
  default:
    return describeForAll(call);
  }
}

/// Sets the arguments that a committed plan keeps.
Status CollectiveOperation::setArguments(const Call &call) {
  Status s = reduces(call.kind) ? setOperator(call) : plan_.setType(ElementType::U8);
  if (s && hasRoot(call.kind))
    s = plan_.setValue("root", int64_t{call.root});
  if (s && hasFormInPlace(call.kind))
    s = plan_.setInPlace(call.send.isInPlace());
  return s;
}

/// This rank's block, which is bound to `own`, and at the root all of them, which are bound to
/// `all`.
Status CollectiveOperation::describeRooted(const Call &call, const char *own, const char *all,
                                           Way way) {
  bool gathers = way == Way::Out;
  const BlockSide &one = gathers ? call.send : call.recv, &many = gathers ? call.recv : call.send;
  if (rank_ != call.root)
    return bind(own, one, 1, gathers ? Way::In : Way::Out);
  if (Status s = bind(all, many, ranks_, gathers ? way : wayIn()); !s)
    return s;
  if (!one.isInPlace())
    return bind(own, one, 1, gathers ? wayIn() : Way::Out);
  Result<BlockSide> slot = ownSlot(many);
  return slot ? bind(own, *slot, 1, gathers ? Way::Copied : Way::Dropped) : slot.status();
}

Status CollectiveOperation::describeForAll(const Call &call) {
  bool gathers = call.kind == CallKind::Allgather || call.kind == CallKind::Allgatherv;
  bool isInPlace = call.send.isInPlace();
  if (isInPlace && gathers)
    return bind("y", call.recv, ranks_, Way::InOut);
  Status s = isInPlace ? bind("x", call.recv, ranks_, Way::Copied)
                       : bind("x", call.send, gathers ? 1 : ranks_, wayIn());
  return s ? bind("y", call.recv, ranks_, Way::Out) : s;
}

Status CollectiveOperation::setOperator(const Call &call) {
  reduction_ = Reduction::of(call.op, call.reducedType());
  if (!reduction_)
    return Status::error("the operator is not for such elements");
  if (reduction_->isUsers())
    neverQuick();
  return plan_.setCombiner(reduction_->combiner(), reduction_->commutes());
}

Status CollectiveOperation::describeReduction(const Call &call) {
  const BlockSide &in = call.input();
  auto count = static_cast<uint64_t>(in.count);
  if (Status s = setElements(count); !s)
    return s;
  if (call.send.isInPlace() && hasFormInPlace(call.kind))
    return bindElements("y", call.recv, count, Way::InOut);
  Status s = bindElements("x", in, count, call.send.isInPlace() ? Way::Copied : wayIn());
  bool hasResult = !hasRoot(call.kind) || rank_ == call.root;
  // The first rank of an exscan has no result: its memory stays, as it does under the MPIs.
  Way way = call.kind == CallKind::Exscan && rank_ == 0 ? Way::Dropped : Way::Out;
  return s && hasResult ? bindElements("y", call.recv, count, way) : s;
}

Status CollectiveOperation::describeReduceScatterBlock(const Call &call) {
  auto own = static_cast<uint64_t>(call.recv.count), ranks = static_cast<uint64_t>(ranks_);
  Status s = setElements(own);
  return s ? bindReduced(call, own * ranks, own) : s;
}

// The parts of the other ranks lie in scratch memory, one behind the other.
Status CollectiveOperation::describeReduceScatter(const Call &call) {
  Result<const TypeLayout *> layout = layoutFor(call.reducedType());
  if (!layout)
    return layout.status();
  uint64_t all = 0;
  blocks_.offset.clear();
  blocks_.length.clear();
  for (int r = 0; r < ranks_; ++r) {
    blocks_.length.push_back(static_cast<uint64_t>(call.recv.countOf(r)));
    all += blocks_.length.back();
  }
  uint64_t own = blocks_.length[static_cast<size_t>(rank_)];
  if (isOfOneList_) {
    std::vector<int64_t> counts(blocks_.length.begin(), blocks_.length.end());
    Status s = plan_.setValue("counts", std::move(counts));
    return s ? bindReduced(call, all, own) : s;
  }
  uint64_t others = own * static_cast<uint64_t>(ranks_ - 1) * (*layout)->size;
  Result<std::byte *> parts = scratchBeside(call.input().buffer, others);
  if (!parts)
    return parts.status();
  Status s = plan_.setBlocks("x", blocks_);
  blocks_.length.assign(blocks_.length.size(), own);
  blocks_.length[static_cast<size_t>(rank_)] = 0;
  if (s)
    s = plan_.setBlocks("parts", blocks_);
  if (s)
    s = bindBytes("parts", *parts, others);
  blocks_.length.assign(1, own);
  if (s)
    s = plan_.setBlocks("y", blocks_);
  return s ? bindReduced(call, all, own) : s;
}

/// The operands of a reduction whose result each rank has a part of.
Status CollectiveOperation::bindReduced(const Call &call, uint64_t all, uint64_t own) {
  Status s = call.send.isInPlace() ? bindElements("x", call.recv, all, Way::Copied)
                                   : bindElements("x", call.send, all, wayIn());
  return s ? bindElements("y", call.recv, own, Way::Out) : s;
}

Status CollectiveOperation::setElements(uint64_t n) {
  elements_ = n;
  return plan_.setElements(n);
}

// A plan's elements are packed; elements without gaps are packed in the program's memory already.
Status CollectiveOperation::bindElements(const char *buffer, const BlockSide &side, uint64_t count,
                                         Way way) {
  Result<const TypeLayout *> layout = layoutFor(side.type);
  if (!layout)
    return layout.status();
  uint64_t bytes = count * (*layout)->size;
  auto *address = static_cast<std::byte *>(side.buffer), *memory = address;
  if (!(*layout)->isDense() || way == Way::Copied || way == Way::Dropped) {
    isDirect_ = false;
    Result<std::byte *> copy = scratchBeside(address, bytes);
    if (!copy)
      return copy.status();
    memory = *copy;
    addPacked({*layout, address, bytes, memory, side.isSent}, way);
  } else if (bytes > 0) {
    bool isRead = way == Way::In || way == Way::InOut;
    direct_.push_back({buffer, side.isSent, isRead, elements_ > 0 ? bytes / elements_ : 0});
  }
  return bindMemory(buffer, memory, bytes, way);
}

Result<BlockSide> CollectiveOperation::ownSlot(const BlockSide &side) {
  BlockSide slot;
  slot.isSent = side.isSent;
  slot.count = side.countOf(rank_);
  if (slot.count == 0)
    return slot;
  Result<const TypeLayout *> layout = layoutFor(side.typeOf(rank_));
  if (!layout)
    return layout.status();
  slot.buffer = side.addressOf(rank_, **layout);
  slot.type = side.typeOf(rank_);
  return slot;
}

Status CollectiveOperation::bind(const char *buffer, const BlockSide &side, int slots, Way way) {
  return factsOf(kind()).length == BlockLength::Listed ? bindListed(buffer, side, slots, way)
                                                       : bindEqual(buffer, side, slots, way);
}

Status CollectiveOperation::bindEqual(const char *buffer, const BlockSide &side, int slots,
                                      Way way) {
  if (side.count == 0) { // of any datatype, or none
    Status s = setElements(0);
    return s ? bindMemory(buffer, nullptr, 0, way) : s;
  }
  Result<const TypeLayout *> layout = layoutFor(side.type);
  if (!layout)
    return layout.status();
  auto count = static_cast<uint64_t>(side.count);
  if (Status s = setElements(count * (*layout)->size); !s)
    return s;
  return bindElements(buffer, side, count * static_cast<uint64_t>(slots), way);
}

// Blocks without gaps are used where they lie; else all blocks go through a copy.
Status CollectiveOperation::bindListed(const char *buffer, const BlockSide &side, int slots,
                                       Way way) {
  uint64_t bytes = 0;
  bool isUsable = way != Way::Copied && way != Way::Dropped;
  std::byte *first = nullptr, *end = nullptr;
  const TypeLayout *layout = nullptr;
  listed_.assign(static_cast<size_t>(slots), {});
  for (int slot = 0; slot < slots; ++slot) {
    auto count = static_cast<uint64_t>(side.countOf(slot));
    if (count == 0) // of any datatype, or none
      continue;
    if (!layout || side.types) {
      Result<const TypeLayout *> found = layoutFor(side.typeOf(slot));
      if (!found)
        return found.status();
      layout = *found;
      isUsable = isUsable && (layout->size == 0 || layout->isDense());
    }
    ListedBlock &block = listed_[static_cast<size_t>(slot)];
    block = {layout, side.addressOf(slot, *layout), count * layout->size};
    if (block.bytes > 0) {
      first = bytes == 0 ? block.address : std::min(first, block.address);
      end = std::max(end, moved(block.address, static_cast<MPI_Aint>(block.bytes)));
    }
    bytes += block.bytes;
  }
  isDirect_ &= isUsable;
  Result<std::byte *> copy = isUsable || bytes == 0 ? first : scratchBeside(first, bytes);
  if (!copy)
    return copy.status();
  std::byte *memory = *copy;
  uint64_t offset = 0;
  blocks_.offset.assign(listed_.size(), 0);
  blocks_.length.assign(listed_.size(), 0);
  for (size_t i = 0; i < listed_.size(); ++i) {
    const ListedBlock &block = listed_[i];
    if (block.bytes == 0)
      continue;
    blocks_.length[i] = block.bytes;
    blocks_.offset[i] = isUsable ? static_cast<uint64_t>(block.address - first) : offset;
    if (!isUsable)
      addPacked({block.layout, block.address, block.bytes, memory + offset, side.isSent}, way);
    offset += block.bytes;
  }
  if (Status s = plan_.setBlocks(buffer, blocks_); !s)
    return s;
  if (isUsable)
    direct_.push_back({.buffer = buffer,
                       .isSent = side.isSent,
                       .isRead = way == Way::In || way == Way::InOut,
                       .slots = slots,
                       .isEmpty = bytes == 0});
  return bindMemory(buffer, memory, isUsable ? static_cast<uint64_t>(end - first) : bytes, way);
}

Status CollectiveOperation::bindMemory(const char *buffer, std::byte *memory, uint64_t bytes,
                                       Way way) {
  if (way == Way::In || way == Way::Copied || way == Way::InOut)
    sentBytes_ += bytes;
  bool isRead = way == Way::In || way == Way::InOut, isWritten = way == Way::Out;
  if ((isRead || isWritten) && bytes > 0 && !isOwn(memory))
    (isRead ? in_ : out_) = {memory, bytes};
  return bindBytes(buffer, memory, bytes);
}

Status CollectiveOperation::bindBytes(const char *buffer, std::byte *memory, uint64_t bytes) {
  return device_ ? device_->bind(plan_, buffer, memory, bytes)
                 : plan_.bind(buffer, {memory, bytes});
}

Result<std::byte *> CollectiveOperation::scratchBeside(const void *address, uint64_t bytes) {
  if (!device_)
    return scratch(bytes);
  return bytes > 0 ? device_->scratch(address, bytes) : nullptr;
}

void CollectiveOperation::forgetBuffers() {
  forgetMemory();
  if (device_)
    device_->forget();
}

// Called between runs, for memory that is bound: cannot fail.
void CollectiveOperation::shift(ptrdiff_t sent, ptrdiff_t received) {
  for (const Direct &direct : direct_)
    if (ptrdiff_t by = direct.isSent ? sent : received; !direct.isEmpty) {
      (void)plan_.move(direct.buffer, by);
      if (device_)
        device_->move(direct.buffer, by);
    }
  if (in_.bytes > 0)
    in_.begin += sent;
  if (out_.bytes > 0)
    out_.begin += received;
}

/// True if the call differs from the one before at most in lengths, types and places of blocks and
/// in the operator. Blocks that move as bytes may have any type.
bool CollectiveOperation::hasFormOf(const Call &call) const {
  auto isUsable = [](const BlockSide &side) { // lists are looked at when they are bound
    return side.isInPlace() || side.counts || side.type == MPI_DATATYPE_NULL ||
           knownLayoutOf(side.type) || layoutOf(side.type).ok();
  };
  return call.root == made_.root && call.send.isInPlace() == made_.send.isInPlace() &&
         call.recv.isInPlace() == made_.recv.isInPlace() && isUsable(call.send) &&
         isUsable(call.recv);
}

/// True if the operator and the type are those of the call before, and still mean the same.
bool CollectiveOperation::combinesAlike(const Call &call) const {
  Call asBefore = call;
  asBefore.send.count = made_.send.count;
  asBefore.recv.count = made_.recv.count;
  return !holdsType() && hasShapeOf(asBefore);
}

// Programs make operators and types for one call.
Result<bool> CollectiveOperation::resizeTo(const Call &call) {
  bool isLike = isLikeBefore(call);
  if (!plan_.isCommitted() || (!isLike && !hasFormOf(call)))
    return false;
  std::optional<uint64_t> elements = elementsOf(call);
  if (!elements || !plan_.holdsFor(*elements))
    return false;
  if (reduction_ && !isLike && !combinesAlike(call)) {
    std::unique_ptr<Reduction> other = Reduction::of(call.op, call.reducedType());
    if (!other || !other->canReplace(*reduction_))
      return false;
    if (Status s = plan_.replaceCombiner(other->combiner()); !s)
      return s;
    reduction_ = std::move(other);
  }
  forgetBuffers();
  if (!isLike)
    forgetLayouts();
  Call sized = call;
  sized.send.isSent = true;
  if (Status s = describe(sized); !s)
    return s;
  complete(sized);
  return true;
}

void CollectiveOperation::addPacked(Packed packed, Way way) {
  if (way == Way::In || way == Way::Copied || way == Way::InOut)
    packed_.push_back(packed);
  if (way == Way::Out || way == Way::InOut)
    unpacked_.push_back(std::move(packed));
}

// Makes a failed plan anew for the next run.
Status CollectiveOperation::beginRun(uint32_t polls) {
  if (holdsType())
    group_->job().typesInUse().begin(reduction_->heldType());
  if (!device_)
    pack();
  if (!plan_.isCommitted())
    if (Status s = plan_.commit(); !s)
      return s;
  Status s = device_ ? startOnDevice() : plan_.start(polls);
  if (s || plan_.plan().failed())
    return s;
  // The other ranks wait for this one. A commit that fails tells them why.
  if (device_)
    device_->endRun();
  plan_.uncommit();
  s = plan_.commit();
  if (!s)
    return s;
  return device_ ? startOnDevice() : plan_.start(polls);
}

Status CollectiveOperation::startOnDevice() {
  if (Status s = device_->bindAnew(plan_); !s)
    return s;
  for (const Packed &packed : packed_)
    if (Status s = device_->copy(packed.memory, packed.buffer, packed.bytes); !s)
      return s;
  return device_->start(plan_);
}

void CollectiveOperation::endRun(const Status &outcome) {
  if (outcome) {
    unpack();
  } else {
    plan_.uncommit();
    group_->job().keepAnswering();
  }
  if (device_)
    device_->endRun();
  if (holdsType())
    group_->job().typesInUse().end(reduction_->heldType());
  group_->end(run_);
}

// The outcome is made where the caller has it: short calls are counted in instructions.
Status CollectiveOperation::run(uint32_t number) {
  Job &job = group_->job();
  uint32_t polls = job.worker().spinBudget().pollsInRow;
  bool isPlain = isPlain_ && plan_.isReady();
  run_ = number;
  group_->begin(number);
  Status s = isPlain ? plan_.plan().start(polls) : beginRun(polls);
  if (s && plan_.plan().running()) {
    s = job.waitFor(*this);
  } else if (s && isPlain) {
    group_->end(run_);
    return s;
  }
  if (s)
    s = plan_.plan().status();
  endRun(s);
  return s;
}

void CollectiveOperation::start(uint32_t number) {
  isBusy_ = true;
  run_ = number;
  group_->begin(number);
  begun_ = beginRun(0);
  if (begun_)
    group_->job().beginMoving(*this);
}

// The end of the device's work wakes no thread: a caller that waits is not to sleep meanwhile.
bool CollectiveOperation::progress() {
  if (plan_.plan().progress())
    return true;
  if (!device_ || !group_->communicator().engine().calculates())
    return false;
  std::this_thread::yield();
  return true;
}

// True: the run is over and succeeded.
bool CollectiveOperation::tryLine() {
  return begun_ && plan_.isCommitted() &&
         plan_.plan().tryFinish(group_->job().worker().spinBudget().pollsInRow);
}

Status CollectiveOperation::finish() {
  isBusy_ = false;
  group_->job().endMoving(*this);
  Status s = begun_ ? plan_.plan().status() : begun_;
  endRun(s);
  return s;
}

// Cancelling a running plan makes it fail on the other ranks.
void CollectiveOperation::cancel() {
  if (!isBusy_)
    return;
  isBusy_ = false;
  group_->job().endMoving(*this);
  endRun(Status::error("the run was given up"));
}

} // namespace colldsl::mpi
