#include "formats/MscclBlocks.h"

#include "ir/Concat.h"

#include <algorithm>
#include <map>

namespace colldsl::msccl {
namespace {

/// A step, by its threadblock and its place there, nops not counted.
struct StepId {
  uint32_t block = 0;
  uint32_t order = 0;
};

StepKind kindOf(const Node &node) {
  if (node.joined == Node::kNoNode || !receives(node.kind))
    return node.kind;
  if (node.kind == StepKind::Recv)
    return StepKind::RecvCopySend;
  return node.isStored ? StepKind::RecvReduceCopySend : StepKind::RecvReduceSend;
}

class BlockWriter {
public:
  BlockWriter(const Schedule &schedule, const Nodes &nodes, uint32_t rank,
              const std::vector<BlockPlan> &plans, const std::vector<Placement> &placements)
      : schedule_(schedule), nodes_(nodes), rank_(rank), plans_(plans), placements_(placements) {}
  Result<Gpu> run();

private:
  void findSteps();
  std::vector<StepId> waitsOf(uint32_t block, uint32_t node);
  Status planWaits(uint32_t block);
  Step stepOf(uint32_t node) const;
  Place sourceOf(const Node &node) const;
  Place targetOf(const Node &node) const;
  void writeBlock(uint32_t block, Threadblock &into);
  void markAwaited();
  void separateReductions(Threadblock &block) const;

  const Schedule &schedule_;
  const Nodes &nodes_;
  uint32_t rank_;
  const std::vector<BlockPlan> &plans_;
  const std::vector<Placement> &placements_;
  Gpu gpu_;
  std::map<uint32_t, StepId> stepOf_;                   ///< per node
  std::vector<std::vector<std::vector<StepId>>> waits_; ///< per threadblock and step
  std::vector<std::vector<uint32_t>> numbers_;          ///< per threadblock and step: nops counted
  std::vector<uint32_t> known_; ///< of a threadblock: steps of each that it has waited for
};

void BlockWriter::findSteps() {
  for (uint32_t b = 0; b < plans_.size(); ++b)
    for (uint32_t s = 0; s < plans_[b].nodes.size(); ++s) {
      uint32_t node = plans_[b].nodes[s];
      stepOf_[node] = {b, s};
      if (nodes_[node].joined != Node::kNoNode)
        stepOf_[nodes_[node].joined] = {b, s};
    }
}

// The last step of each other threadblock that the node waits for, unless its threadblock has
// waited for it before.
std::vector<StepId> BlockWriter::waitsOf(uint32_t block, uint32_t node) {
  std::map<uint32_t, uint32_t> last;
  auto collect = [&](uint32_t i) {
    for (uint32_t before : nodes_[i].waits) {
      StepId step = stepOf_[before];
      if (step.block != block && step.order + 1 > known_[step.block])
        last[step.block] = std::max(last[step.block], step.order);
    }
  };
  collect(node);
  if (nodes_[node].joined != Node::kNoNode)
    collect(nodes_[node].joined);
  std::vector<StepId> waits;
  for (auto [other, order] : last) {
    known_[other] = order + 1;
    waits.push_back({other, order});
  }
  return waits;
}

Status BlockWriter::planWaits(uint32_t block) {
  known_.assign(plans_.size(), 0);
  uint32_t number = 0;
  for (uint32_t node : plans_[block].nodes) {
    waits_[block].push_back(waitsOf(block, node));
    size_t nops = std::max<size_t>(waits_[block].back().size(), 1) - 1;
    number += static_cast<uint32_t>(nops);
    numbers_[block].push_back(number++);
  }
  if (number <= kMaxSteps)
    return {};
  const Node &first = nodes_[plans_[block].nodes.front()];
  return refuseOp(schedule_, rank_, first.op,
                  concat("all that follows in its threadblock: it has ", number,
                         " steps, the limit is ", kMaxSteps));
}

// The source of a node. A receive's source and a send's target lie on the other rank.
Place BlockWriter::sourceOf(const Node &node) const {
  const Placement &here = placements_[rank_];
  if (node.source.buffer != kNoBuffer)
    return here.place(node.source);
  const Node &send = nodes_[node.partner];
  const Range &range = send.isStored ? send.source : nodes_[send.joined].source;
  return placements_[send.rank].place(range);
}

Place BlockWriter::targetOf(const Node &node) const {
  const Placement &here = placements_[rank_];
  if (node.target.buffer != kNoBuffer && node.isStored)
    return here.place(node.target);
  const Node &send = node.kind == StepKind::Send ? node : nodes_[node.joined];
  const Node &recv = nodes_[send.partner];
  return placements_[recv.rank].place(recv.isStored ? recv.target : recv.source);
}

Step BlockWriter::stepOf(uint32_t i) const {
  const Node &node = nodes_[i];
  Step step;
  step.kind = kindOf(node);
  step.source = sourceOf(node);
  step.target = targetOf(node);
  step.count = node.count;
  step.loc = schedule_.ranks[rank_].op(node.op).loc;
  return step;
}

// Writes the steps of a threadblock. The step itself names its last dependency; a nop before it
// names each other one.
void BlockWriter::writeBlock(uint32_t block, Threadblock &into) {
  const BlockPlan &plan = plans_[block];
  into.sendPeer = plan.sendPeer;
  into.recvPeer = plan.recvPeer;
  into.channel = plan.channel;
  auto waitFor = [&](Step &step, StepId on) {
    step.waitBlock = static_cast<int32_t>(on.block);
    step.waitStep = static_cast<int32_t>(numbers_[on.block][on.order]);
  };
  for (uint32_t s = 0; s < plan.nodes.size(); ++s) {
    Step step = stepOf(plan.nodes[s]);
    const std::vector<StepId> &waits = waits_[block][s];
    for (size_t w = 0; w + 1 < waits.size(); ++w)
      waitFor(into.steps.emplace_back(), waits[w]);
    if (!waits.empty())
      waitFor(step, waits.back());
    into.steps.push_back(step);
  }
}

void BlockWriter::markAwaited() {
  for (Threadblock &block : gpu_.blocks)
    for (const Step &step : block.steps)
      if (step.waitBlock >= 0)
        gpu_.blocks[static_cast<size_t>(step.waitBlock)]
            .steps[static_cast<size_t>(step.waitStep)]
            .isAwaited = true;
}

// Separates consecutive reductions into one place. MSCCL makes one step of them, and takes the
// count of the last for all, unless one of them is awaited.
void BlockWriter::separateReductions(Threadblock &block) const {
  for (size_t s = 1; s < block.steps.size(); ++s) {
    Step &a = block.steps[s - 1];
    const Step &b = block.steps[s];
    bool isOne = a.kind == StepKind::Reduce && b.kind == StepKind::Reduce && b.waitBlock < 0 &&
                 a.target.memory == b.target.memory && a.target.offset == b.target.offset &&
                 a.source.memory == b.source.memory;
    if (isOne && a.count != b.count)
      a.isAwaited = true;
  }
}

Result<Gpu> BlockWriter::run() {
  const Placement &here = placements_[rank_];
  if (here.scratchChunks() > kMaxOffset)
    return Status::error(concat("rank ", rank_, ": its temporaries take ", here.scratchChunks(),
                                " chunks, MSCCL counts to ", kMaxOffset));
  if (plans_.size() > kMaxBlocks)
    return Status::error(concat("rank ", rank_, ": needs ", plans_.size(),
                                " threadblocks, the limit is ", kMaxBlocks));
  gpu_.scratchChunks = static_cast<uint32_t>(here.scratchChunks());
  findSteps();
  waits_.resize(plans_.size());
  numbers_.resize(plans_.size());
  for (uint32_t b = 0; b < plans_.size(); ++b)
    if (Status s = planWaits(b); !s)
      return s;
  gpu_.blocks.resize(plans_.size());
  for (uint32_t b = 0; b < plans_.size(); ++b)
    writeBlock(b, gpu_.blocks[b]);
  markAwaited();
  for (Threadblock &block : gpu_.blocks)
    separateReductions(block);
  return std::move(gpu_);
}

} // namespace

Placement::Placement(const Schedule &schedule, const Signature &signature, const Nodes &nodes,
                     uint32_t rank)
    : signature_(&signature) {
  const std::vector<Buffer> &buffers = schedule.ranks[rank].buffers;
  std::vector<Range> used(buffers.size());
  for (uint32_t i : nodes.perRank[rank]) {
    const Node &node = nodes[i];
    for (const Range *range : {&node.source, &node.target}) {
      bool isStored = range == &node.source ? !node.isJoinedSend() || node.isStored : node.isStored;
      if (range->buffer == kNoBuffer || !isStored)
        continue;
      Range &all = used[index(range->buffer)];
      all = all.buffer == kNoBuffer ? *range
                                    : Range{range->buffer, std::min(all.begin, range->begin),
                                            std::max(all.end, range->end)};
    }
  }
  scratch_.resize(buffers.size());
  for (uint32_t b = 0; b < buffers.size(); ++b)
    if (buffers[b].role == BufferRole::Temp) {
      scratch_[b] = static_cast<int64_t>(scratchChunks_) - used[b].begin;
      scratchChunks_ += used[b].size();
    }
}

Place Placement::place(const Range &range) const {
  auto offset = static_cast<int32_t>(range.begin);
  bool isBoth = signature_->input == signature_->output;
  if (range.buffer == signature_->output &&
      (!isBoth || signature_->collective == Collective::Allgather))
    return {Memory::Output, offset};
  if (range.buffer == signature_->input)
    return {Memory::Input, offset};
  return {Memory::Scratch, static_cast<int32_t>(scratch_[index(range.buffer)] + range.begin)};
}

Result<Gpu> writeBlocks(const Schedule &schedule, const Nodes &nodes, uint32_t rank,
                        const std::vector<BlockPlan> &plans,
                        const std::vector<Placement> &placements) {
  return BlockWriter(schedule, nodes, rank, plans, placements).run();
}

} // namespace colldsl::msccl
