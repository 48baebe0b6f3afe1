#include "formats/MscclImport.h"

#include "formats/MscclBuffers.h"
#include "formats/MscclLevels.h"
#include "ir/Concat.h"

#include <algorithm>
#include <map>
#include <queue>
#include <tuple>
#include <utility>

namespace colldsl::msccl {
namespace {

constexpr size_t kMaxJoined = 16; ///< dependencies that nops hand on one by one

/// Turns the steps of one gpu into the ops of a rank.
class GpuImporter {
public:
  /// `levels` of the gpu's steps.
  GpuImporter(const Gpu &gpu, const CollectiveBuffers &buffers, uint32_t rank,
              const StepLevels::value_type &levels, ElementType type, Dag &dag)
      : gpu_(gpu), buffers_(buffers), rank_(rank), levels_(levels), type_(type), dag_(dag) {}

  Status run();
  uint32_t incomingChunks() const { return incoming_; }
  /// Chunks of parameters.
  std::vector<Range> takeWritten() { return std::move(written_); }

private:
  /// A step, by its place.
  struct Key {
    uint32_t s;
    uint32_t tb;
    auto operator<=>(const Key &) const = default;
  };
  /// A send that reads a chunk.
  struct Reader {
    Key step;
    OpId op;
  };
  struct Ranges {
    Range source, target;
  };

  const Step &step(Key key) const { return gpu_.blocks[key.tb].steps[key.s]; }
  size_t number(Key key) const { return firstStep_[key.tb] + key.s; }
  void countSteps();
  Status addCopies();
  void waitForCopies(const Range &range, bool writes);
  Status checkConnections() const;
  Status checkWaits() const;
  Result<std::vector<Key>> order() const;
  void join(Key key);
  Status addStep(Key key);
  Result<Ranges> ranges(Key key) const;
  void addOps(Key key, const Ranges &ranges);
  void addNop(Key key);
  OpId add(Key key, Op op, const Range *source, const Range *target);
  OpId addRecv(Key key, const Range &target);
  OpId addSend(Key key, const Range &source);
  OpId addCombine(Key key, const Range &source, const Range &target);
  void waitForReaders(Key key, const Range &target);
  void noteWritten(const Range &target) {
    if (target.buffer == CollectiveBuffers::kInput || target.buffer == CollectiveBuffers::kOutput)
      written_.push_back(target);
  }
  void addDep(Dep dep);
  std::vector<Dep> takeDeps();

  template <typename... Parts> Status failAt(Key key, const Parts &...parts) const {
    return Status::error(step(key).loc,
                         concat("gpu ", rank_, ", tb ", key.tb, ", step ", key.s, ": ", parts...));
  }

  const Gpu &gpu_;
  const CollectiveBuffers &buffers_;
  uint32_t rank_;
  const StepLevels::value_type &levels_;
  ElementType type_;
  Dag &dag_;
  std::vector<size_t> firstStep_; ///< per tb, and one behind the last
  /// Per step and tb: how many steps of that tb are over when it begins, with itself.
  std::vector<uint16_t> known_;
  std::vector<std::vector<Dep>> tails_; ///< per step: what to wait for behind it
  std::vector<Dep> deps_;               ///< of the next op
  std::map<std::pair<BufferId, uint32_t>, std::vector<Reader>> readers_; ///< per chunk
  /// Initial copies that read a chunk, and that write it.
  std::map<std::pair<BufferId, uint32_t>, std::vector<OpId>> copiedFrom_, copiedTo_;
  std::vector<uint32_t> sent_, received_; ///< messages per tb
  std::vector<Range> written_;
  uint32_t incoming_ = 0;
};

void GpuImporter::countSteps() {
  firstStep_.assign(1, 0);
  for (const Threadblock &block : gpu_.blocks)
    firstStep_.push_back(firstStep_.back() + block.steps.size());
  known_.assign(firstStep_.back() * gpu_.blocks.size(), 0);
  tails_.resize(firstStep_.back());
  sent_.resize(gpu_.blocks.size());
  received_.resize(gpu_.blocks.size());
}

// Adds the initial copies, which come before all steps. Steps that touch the same chunks wait for
// them.
Status GpuImporter::addCopies() {
  for (const InitialCopy &copy : gpu_.copies) {
    Result<Range> source = buffers_.range(rank_, {Memory::Input, copy.source}, 1);
    Result<Range> target = buffers_.range(rank_, {Memory::Output, copy.target}, 1);
    if (!source || !target)
      return Status::error(copy.loc, concat("gpu ", rank_, ": copy ", source ? "writes " : "reads ",
                                            source ? target.message() : source.message()));
    if (*source == *target)
      continue;
    waitForCopies(*source, /*writes=*/false);
    waitForCopies(*target, /*writes=*/true);
    noteWritten(*target);
    Op op;
    op.kind = OpKind::Copy;
    op.loc = copy.loc;
    Slice from = source->slice(), to = target->slice();
    OpId id = dag_.add(op, std::span(&from, 1), std::span(&to, 1), takeDeps());
    copiedFrom_[{source->buffer, source->begin}].push_back(id);
    copiedTo_[{target->buffer, target->begin}].push_back(id);
  }
  return {};
}

void GpuImporter::waitForCopies(const Range &range, bool writes) {
  for (uint32_t chunk = range.begin; chunk < range.end; ++chunk)
    for (const auto *copies : {&copiedTo_, writes ? &copiedFrom_ : nullptr}) {
      if (!copies)
        continue;
      if (auto found = copies->find({range.buffer, chunk}); found != copies->end())
        for (OpId copy : found->second)
          addDep({copy, DepKind::Requires});
    }
}

// Refuses two threadblocks on one connection: they have no order between their messages.
Status GpuImporter::checkConnections() const {
  std::map<std::tuple<bool, int32_t, uint32_t>, uint32_t> users;
  for (uint32_t tb = 0; tb < gpu_.blocks.size(); ++tb) {
    const Threadblock &block = gpu_.blocks[tb];
    for (bool isSend : {true, false}) {
      int32_t peer = isSend ? block.sendPeer : block.recvPeer;
      auto [user, isNew] = users.try_emplace({isSend, peer, block.channel}, tb);
      if (peer >= 0 && !isNew)
        return Status::error(block.loc, concat("gpu ", rank_, ", tb ", tb, ": tb ", user->second,
                                               isSend ? " sends to" : " receives from", " gpu ",
                                               peer, " on channel ", block.channel, " already"));
    }
  }
  return {};
}

Status GpuImporter::checkWaits() const {
  for (uint32_t tb = 0; tb < gpu_.blocks.size(); ++tb)
    for (uint32_t s = 0; s < gpu_.blocks[tb].steps.size(); ++s) {
      Key key{s, tb};
      int32_t block = step(key).waitBlock, waitStep = step(key).waitStep;
      if (block < 0)
        continue;
      if (static_cast<size_t>(block) >= gpu_.blocks.size())
        return failAt(key, "waits for tb ", block, ", the gpu has ", gpu_.blocks.size());
      const std::vector<Step> &steps = gpu_.blocks[static_cast<size_t>(block)].steps;
      if (static_cast<size_t>(waitStep) >= steps.size())
        return failAt(key, "waits for step ", waitStep, " of tb ", block, ", which has ",
                      steps.size());
      if (!steps[static_cast<size_t>(waitStep)].isAwaited)
        return failAt(key, "waits for step ", waitStep, " of tb ", block,
                      ", which has hasdep=\"0\" and signals no other threadblock");
    }
  return {};
}

// Topological order, with the steps of lowest level first (Kahn 1962, with a heap). Transports have
// one channel per pair of ranks, whose messages go in the order of the sender's ops. That should be
// the order in which the receiver takes them, over all channels of MSCCL.
Result<std::vector<GpuImporter::Key>> GpuImporter::order() const {
  std::vector<uint32_t> open(firstStep_.back());
  std::vector<std::vector<Key>> released(firstStep_.back());
  auto isLater = [&](Key a, Key b) {
    return std::pair(levels_[a.tb][a.s], a) > std::pair(levels_[b.tb][b.s], b);
  };
  std::priority_queue<Key, std::vector<Key>, decltype(isLater)> ready(isLater);
  for (uint32_t tb = 0; tb < gpu_.blocks.size(); ++tb)
    for (uint32_t s = 0; s < gpu_.blocks[tb].steps.size(); ++s) {
      Key key{s, tb};
      open[number(key)] = (s != 0) + (step(key).waitBlock >= 0);
      if (s != 0)
        released[number({s - 1, tb})].push_back(key);
      if (step(key).waitBlock >= 0)
        released[number({static_cast<uint32_t>(step(key).waitStep),
                         static_cast<uint32_t>(step(key).waitBlock)})]
            .push_back(key);
      if (open[number(key)] == 0)
        ready.push(key);
    }
  std::vector<Key> order;
  while (!ready.empty()) {
    order.push_back(ready.top());
    ready.pop();
    for (Key next : released[number(order.back())])
      if (--open[number(next)] == 0)
        ready.push(next);
  }
  for (uint32_t tb = 0; tb < gpu_.blocks.size(); ++tb)
    for (uint32_t s = 0; s < gpu_.blocks[tb].steps.size(); ++s)
      if (open[number({s, tb})] != 0 && order.size() < open.size())
        return failAt({s, tb}, "can never start: what it waits for waits for itself");
  return order;
}

// Computes the steps that are over when a step begins: those that were over when its predecessors
// began, and its predecessors.
void GpuImporter::join(Key key) {
  size_t blocks = gpu_.blocks.size();
  uint16_t *known = known_.data() + number(key) * blocks;
  auto joinOne = [&](Key before) {
    const uint16_t *other = known_.data() + number(before) * blocks;
    std::transform(known, known + blocks, other, known,
                   [](uint16_t a, uint16_t b) { return std::max(a, b); });
    for (Dep dep : tails_[number(before)])
      addDep(dep);
  };
  if (key.s != 0)
    joinOne({key.s - 1, key.tb});
  if (step(key).waitBlock >= 0)
    joinOne(
        {static_cast<uint32_t>(step(key).waitStep), static_cast<uint32_t>(step(key).waitBlock)});
  known[key.tb] = static_cast<uint16_t>(key.s + 1);
}

void GpuImporter::addDep(Dep dep) {
  auto same = std::find_if(deps_.begin(), deps_.end(),
                           [&](const Dep &other) { return other.op == dep.op; });
  if (same == deps_.end())
    deps_.push_back(dep);
  else if (dep.kind == DepKind::Requires)
    same->kind = DepKind::Requires;
}

/// Takes the dependencies of the next op, in the order of their ops.
std::vector<Dep> GpuImporter::takeDeps() {
  std::sort(deps_.begin(), deps_.end(), [](const Dep &a, const Dep &b) { return a.op < b.op; });
  return std::exchange(deps_, {});
}

// Makes a writer of chunks wait for the sends that read them, if every order puts these before it.
// Each send is awaited once.
void GpuImporter::waitForReaders(Key key, const Range &target) {
  const uint16_t *known = known_.data() + number(key) * gpu_.blocks.size();
  for (uint32_t chunk = target.begin; chunk < target.end; ++chunk) {
    auto found = readers_.find({target.buffer, chunk});
    if (found == readers_.end())
      continue;
    std::erase_if(found->second, [&](const Reader &reader) {
      if (reader.step == key || known[reader.step.tb] <= reader.step.s)
        return false;
      addDep({reader.op, DepKind::Requires});
      return true;
    });
  }
}

OpId GpuImporter::add(Key key, Op op, const Range *source, const Range *target) {
  op.loc = step(key).loc;
  if (source)
    waitForCopies(*source, /*writes=*/false);
  if (target) {
    waitForReaders(key, *target);
    waitForCopies(*target, /*writes=*/true);
    noteWritten(*target);
  }
  Slice from = source ? source->slice() : Slice(), to = target ? target->slice() : Slice();
  OpId id =
      dag_.add(op, std::span(&from, source ? 1 : 0), std::span(&to, target ? 1 : 0), takeDeps());
  deps_.assign(1, {id, DepKind::Requires});
  return id;
}

OpId GpuImporter::addRecv(Key key, const Range &target) {
  const Threadblock &block = gpu_.blocks[key.tb];
  Op op;
  op.kind = OpKind::Recv;
  op.peer = Rank{static_cast<uint32_t>(block.recvPeer)};
  op.message = makeMessageId(block.channel, received_[key.tb]++);
  return add(key, op, nullptr, &target);
}

OpId GpuImporter::addSend(Key key, const Range &source) {
  const Threadblock &block = gpu_.blocks[key.tb];
  Op op;
  op.kind = OpKind::Send;
  op.peer = Rank{static_cast<uint32_t>(block.sendPeer)};
  op.message = makeMessageId(block.channel, sent_[key.tb]++);
  OpId id = add(key, op, &source, nullptr);
  if (source.buffer != CollectiveBuffers::kIncoming)
    for (uint32_t chunk = source.begin; chunk < source.end; ++chunk)
      readers_[{source.buffer, chunk}].push_back({key, id});
  deps_.assign(1, {id, DepKind::IRequires});
  return id;
}

OpId GpuImporter::addCombine(Key key, const Range &source, const Range &target) {
  Op op;
  op.kind = OpKind::Combine;
  op.type = type_;
  return add(key, op, &source, &target);
}

Result<GpuImporter::Ranges> GpuImporter::ranges(Key key) const {
  const Step &at = step(key);
  Ranges ranges;
  bool readsSource = at.kind != StepKind::Recv && at.kind != StepKind::RecvCopySend;
  if (readsSource) {
    Result<Range> source = buffers_.range(rank_, at.source, at.count);
    if (!source)
      return failAt(key, spelling(at.kind), " reads ", source.message());
    ranges.source = *source;
  }
  if (writes(at.kind)) {
    Result<Range> target = buffers_.range(rank_, at.target, at.count);
    if (!target)
      return failAt(key, spelling(at.kind), " writes ", target.message());
    ranges.target = *target;
  }
  bool isOntoItself = ranges.source == ranges.target && at.kind != StepKind::Reduce;
  if (readsSource && writes(at.kind) && ranges.source.overlaps(ranges.target) && !isOntoItself)
    return failAt(key, spelling(at.kind), " reads and writes chunks that overlap");
  return ranges;
}

// Adds the ops of a step. A receiving reduction receives into its target, unless that is its source
// as well.
void GpuImporter::addOps(Key key, const Ranges &ranges) {
  StepKind kind = step(key).kind;
  Range end = ranges.target; // the chunks that a receiving step sends on
  if (receives(kind) && reduces(kind)) {
    bool isAside = kind == StepKind::RecvReduceSend || ranges.source == ranges.target;
    Range incoming{CollectiveBuffers::kIncoming, incoming_, incoming_ + step(key).count};
    incoming_ += isAside ? step(key).count : 0;
    addRecv(key, isAside ? incoming : ranges.target);
    if (kind == StepKind::RecvReduceSend)
      end = incoming;
    if (ranges.source == ranges.target)
      addCombine(key, incoming, ranges.target);
    else
      addCombine(key, ranges.source, end);
  } else if (receives(kind)) {
    addRecv(key, ranges.target);
  } else if (kind == StepKind::Reduce) {
    addCombine(key, ranges.source, ranges.target);
  } else if (kind == StepKind::Copy && !(ranges.source == ranges.target)) {
    Op op;
    op.kind = OpKind::Copy;
    add(key, op, &ranges.source, &ranges.target);
  }
  if (sends(kind))
    addSend(key, kind == StepKind::Send ? ranges.source : end);
}

// A wait for a nop becomes waits for all that the nop waits for. If many ops wait for it, or it
// waits for many, it becomes an op.
void GpuImporter::addNop(Key key) {
  if (deps_.size() >= (step(key).isAwaited ? 2 : kMaxJoined))
    add(key, Op(), nullptr, nullptr);
}

Status GpuImporter::addStep(Key key) {
  deps_.clear();
  join(key);
  if (step(key).kind == StepKind::Nop) {
    addNop(key);
  } else {
    Result<Ranges> found = ranges(key);
    if (!found)
      return found.status();
    addOps(key, *found);
  }
  tails_[number(key)] = deps_;
  return {};
}

Status GpuImporter::run() {
  countSteps();
  if (Status s = checkConnections(); !s)
    return s;
  if (Status s = checkWaits(); !s)
    return s;
  if (Status s = addCopies(); !s)
    return s;
  Result<std::vector<Key>> steps = order();
  if (!steps)
    return steps.status();
  for (Key key : *steps)
    if (Status s = addStep(key); !s)
      return s;
  return {};
}

} // namespace

Result<Schedule> toSchedule(const Algorithm &algorithm, std::string_view fileName,
                            ImportOptions options) {
  Result<CollectiveBuffers> buffers = CollectiveBuffers::of(algorithm);
  if (!buffers)
    return buffers.status();
  Schedule schedule;
  schedule.name = algorithm.name.empty() ? std::string(fileName) : algorithm.name;
  schedule.files = {std::string(fileName)};
  schedule.hasContract = buffers->hasContract();
  schedule.ranks.resize(algorithm.gpus.size());
  StepLevels levels = stepLevels(algorithm);
  uint64_t ops = 0;
  bool writesInput = false; ///< in place, or as a work area
  for (uint32_t r = 0; r < schedule.numRanks(); ++r) {
    Dag &dag = schedule.ranks[r];
    buffers->addTo(schedule, r, 0, options.type);
    GpuImporter importer(algorithm.gpus[r], *buffers, r, levels[r], options.type, dag);
    if (Status s = importer.run(); !s)
      return s;
    dag.buffers[index(CollectiveBuffers::kIncoming)].endScale = importer.incomingChunks();
    while (dag.buffers.back().role == BufferRole::Temp && dag.buffers.back().endScale == 0)
      dag.buffers.pop_back();
    std::vector<Range> written = importer.takeWritten();
    writesInput |= std::ranges::any_of(
        written, [](const Range &w) { return w.buffer == CollectiveBuffers::kInput; });
    dag.contract = buffers->contract(r, std::move(written));
    ops += dag.size();
    if (ops > options.maxOps)
      return Status::error(
          concat("there are more ops than the limit of ", options.maxOps, " (--max-total-ops)"));
  }
  for (Dag &dag : schedule.ranks)
    if (writesInput)
      dag.buffers[index(CollectiveBuffers::kInput)].role = BufferRole::InOut;
  return schedule;
}

} // namespace colldsl::msccl
