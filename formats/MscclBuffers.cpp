#include "formats/MscclBuffers.h"

#include "ir/Concat.h"
#include "ir/Index32.h"

#include <algorithm>
#include <numeric>

namespace colldsl::msccl {
namespace {

constexpr uint64_t kUsualElements = 1024; ///< of a chunk, by default
constexpr std::string_view kAsHint = "`colldsl import --as` takes it for another collective";

bool readsInput(const Step &step) {
  bool readsSource = step.kind != StepKind::Nop && step.kind != StepKind::Recv &&
                     step.kind != StepKind::RecvCopySend;
  return readsSource && step.source.memory == Memory::Input;
}
bool writesOutput(const Step &step) {
  return writes(step.kind) && step.target.memory == Memory::Output;
}

bool anyStep(const Gpu &gpu, bool (*is)(const Step &)) {
  return std::ranges::any_of(
      gpu.blocks, [&](const Threadblock &block) { return std::ranges::any_of(block.steps, is); });
}

std::string list(const std::vector<uint32_t> &ranks) {
  std::string text;
  for (size_t i = 0; i < ranks.size() && i < 8; ++i)
    text += concat(i == 0 ? " " : ", ", ranks[i]);
  return text + (ranks.size() > 8 ? ", ..." : "");
}

/// Ranks' parts of the larger buffer of an allgather, a reduce_scatter, an alltoall.
bool isShared(Collective collective) {
  return collective == Collective::Allgather || collective == Collective::ReduceScatter ||
         collective == Collective::Alltoall;
}

Buffer bufferOf(uint32_t name, BufferRole role, uint32_t chunks, ElementType type) {
  Buffer buffer;
  buffer.endScale = chunks;
  buffer.name = name;
  buffer.role = role;
  buffer.type = type;
  return buffer;
}

/// Sorts ranges, and joins those that overlap or continue each other.
std::vector<Range> united(std::vector<Range> ranges) {
  auto place = [](const Range &range) { return std::pair(range.buffer, range.begin); };
  std::ranges::sort(ranges, {}, place);
  std::vector<Range> all;
  for (const Range &range : ranges)
    if (!all.empty() && all.back().buffer == range.buffer && all.back().end >= range.begin)
      all.back().end = std::max(all.back().end, range.end);
    else
      all.push_back(range);
  return all;
}

std::vector<Range> outside(const Range &range, const Range &hole) {
  if (!range.overlaps(hole))
    return {range};
  std::vector<Range> left;
  if (range.begin < hole.begin)
    left.push_back({range.buffer, range.begin, hole.begin});
  if (hole.end < range.end)
    left.push_back({range.buffer, hole.end, range.end});
  return left;
}

void promise(Contract &contract, const Range &target, bool isReduction,
             const std::vector<EntryValue> &operands) {
  Ensure ensure;
  ensure.target = target.slice();
  ensure.isReduction = isReduction;
  ensure.operandBegin = index32(contract.operands.size());
  ensure.operandCount = index32(operands.size());
  contract.ensures.push_back(ensure);
  contract.operands.insert(contract.operands.end(), operands.begin(), operands.end());
}

} // namespace

uint32_t CollectiveBuffers::share() const { return algorithm_->chunksPerLoop / ranks(); }

Extent CollectiveBuffers::extent(uint32_t rank) const {
  uint32_t all = algorithm_->chunksPerLoop;
  const Gpu &gpu = algorithm_->gpus[rank];
  switch (algorithm_->collective) {
  case Collective::Allgather:
    return {share(), all};
  case Collective::ReduceScatter:
    return {all, share()};
  case Collective::Custom:
    // In place, compilers count the chunks of the one buffer for the buffer that steps name.
    if (algorithm_->inPlace && (gpu.inputChunks == 0 || gpu.outputChunks == 0))
      return {gpu.inputChunks + gpu.outputChunks, gpu.inputChunks + gpu.outputChunks};
    return {gpu.inputChunks, gpu.outputChunks};
  case Collective::Allreduce:
  case Collective::Alltoall:
  case Collective::Broadcast:
  case Collective::Reduce:
    return {all, all};
  }
  return {};
}

uint32_t CollectiveBuffers::chunks(uint32_t rank, Memory memory) const {
  switch (memory) {
  case Memory::Input:
    return extent(rank).input;
  case Memory::Output:
    return extent(rank).output;
  case Memory::Scratch:
    return algorithm_->gpus[rank].scratchChunks;
  }
  return 0;
}

Status CollectiveBuffers::checkGpu(uint32_t rank) const {
  const Gpu &gpu = algorithm_->gpus[rank];
  Extent expected = extent(rank);
  auto check = [&](std::string_view name, uint32_t stated, uint32_t chunks) -> Status {
    if (stated == 0 || stated == chunks || algorithm_->collective == Collective::Custom)
      return {};
    return Diagnostic::error(gpu.loc,
                             concat("gpu ", rank, ": ", name, " is ", stated, ", ",
                                    spelling(algorithm_->collective), " with nchunksperloop ",
                                    algorithm_->chunksPerLoop, " has ", chunks),
                             std::string(kAsHint));
  };
  if (Status s = check("i_chunks", gpu.inputChunks, expected.input); !s)
    return s;
  if (Status s = check("o_chunks", gpu.outputChunks, expected.output); !s)
    return s;
  if (algorithm_->inPlace && !isShared(algorithm_->collective) && expected.input != expected.output)
    return Status::error(gpu.loc, concat("gpu ", rank, ": in place, i_chunks is ", expected.input,
                                         " and o_chunks is ", expected.output));
  return {};
}

Status CollectiveBuffers::checkChunks() const {
  if (isShared(algorithm_->collective) && algorithm_->chunksPerLoop % ranks() != 0)
    return Diagnostic::error(algorithm_->loc,
                             concat("nchunksperloop is ", algorithm_->chunksPerLoop, ", ",
                                    spelling(algorithm_->collective), " divides them among ",
                                    ranks(), " gpus"),
                             std::string(kAsHint));
  for (uint32_t r = 0; r < ranks(); ++r)
    if (Status s = checkGpu(r); !s)
      return s;
  return {};
}

template <typename Is> std::vector<uint32_t> CollectiveBuffers::ranksThat(Is is) const {
  std::vector<uint32_t> found;
  for (uint32_t r = 0; r < ranks(); ++r)
    if (is(algorithm_->gpus[r]))
      found.push_back(r);
  return found;
}

// The root, if the file does not name it: the gpu whose input is read (or whose output is written).
// In place, where all are, it is the gpu that only sends (receives).
Status CollectiveBuffers::findRoot() {
  bool isBroadcast = algorithm_->collective == Collective::Broadcast;
  if (!isBroadcast && algorithm_->collective != Collective::Reduce)
    return {};
  if (algorithm_->root >= 0) {
    root_ = static_cast<uint32_t>(algorithm_->root);
    return {};
  }
  auto touches = isBroadcast ? readsInput : writesOutput;
  bool (*isLeft)(const Step &) = isBroadcast ? [](const Step &step) { return receives(step.kind); }
                                             : [](const Step &step) { return sends(step.kind); };
  auto found = algorithm_->inPlace
                   ? ranksThat([&](const Gpu &g) { return !anyStep(g, isLeft); })
                   : ranksThat([&](const Gpu &g) {
                       return anyStep(g, touches) || (isBroadcast && !g.copies.empty());
                     });
  if (found.size() == 1) {
    root_ = found.front();
    return {};
  }
  std::string_view what = algorithm_->inPlace ? (isBroadcast ? "receive nothing" : "send nothing")
                          : isBroadcast       ? "read their input"
                                              : "write their output";
  return Status::error(algorithm_->loc,
                       concat(spelling(algorithm_->collective), " has no single root: gpus that ",
                              what, ":", found.empty() ? " none" : list(found)));
}

Result<CollectiveBuffers> CollectiveBuffers::of(const Algorithm &algorithm) {
  CollectiveBuffers buffers(algorithm);
  if (Status s = buffers.checkChunks(); !s)
    return s;
  if (Status s = buffers.findRoot(); !s)
    return s;
  return buffers;
}

void CollectiveBuffers::addTo(Schedule &schedule, uint32_t rank, uint32_t incomingChunks,
                              ElementType type) const {
  if (schedule.names.empty()) {
    schedule.names = {"x", "y", "s", "incoming"};
    schedule.sizeClass = {kUsualElements, 0, UINT64_MAX};
  }
  Dag &dag = schedule.ranks[rank];
  Extent size = extent(rank);
  Buffer x = bufferOf(0, BufferRole::In, size.input, type);
  Buffer y = bufferOf(1, BufferRole::Out, size.output, type);
  if (algorithm_->inPlace) {
    Range part = *range(rank, {Memory::Input, 0}, size.input);
    bool isOutputPart = algorithm_->collective == Collective::ReduceScatter;
    if (isOutputPart)
      part = *range(rank, {Memory::Output, 0}, size.output);
    (isOutputPart ? y : x).aliasOf = part.buffer;
    (isOutputPart ? y : x).aliasSlice = index32(dag.slices.size());
    dag.slices.push_back(part.slice());
  }
  dag.addBuffer(x);
  dag.addBuffer(y);
  dag.addBuffer(bufferOf(2, BufferRole::Temp, chunks(rank, Memory::Scratch), type));
  dag.addBuffer(bufferOf(3, BufferRole::Temp, incomingChunks, type));
}

Result<Range> CollectiveBuffers::range(uint32_t rank, Place place, uint32_t count) const {
  uint32_t size = chunks(rank, place.memory);
  if (place.offset < 0 || static_cast<uint32_t>(place.offset) + count > size)
    return Status::error(concat("chunks ", place.offset, " to ", place.offset + int64_t{count},
                                " of '", spelling(place.memory), "', which has ", size));
  auto begin = static_cast<uint32_t>(place.offset);
  BufferId buffer{static_cast<uint32_t>(place.memory)};
  if (algorithm_->inPlace && place.memory != Memory::Scratch) {
    bool isScatter = algorithm_->collective == Collective::ReduceScatter;
    bool isPart = algorithm_->collective == Collective::Allgather
                      ? place.memory == Memory::Input
                      : isScatter && place.memory == Memory::Output;
    buffer = isScatter ? kInput : kOutput;
    begin += isPart ? rank * share() : 0;
  }
  return Range{buffer, begin, begin + count};
}

Contract CollectiveBuffers::contract(uint32_t rank, std::vector<Range> written) const {
  Contract contract;
  promiseAll(rank, contract);
  if (!hasContract())
    return contract;
  Range promised; // one piece, of the output
  if (!contract.ensures.empty())
    promised = *range(rank, {Memory::Output, 0}, extent(rank).output);
  for (const Range &range : united(std::move(written)))
    for (const Range &rest : outside(range, promised))
      promise(contract, rest, false, {});
  return contract;
}

void CollectiveBuffers::promiseAll(uint32_t rank, Contract &contract) const {
  Extent size = extent(rank);
  Range input{kInput, 0, size.input}, output{kOutput, 0, size.output};
  auto part = [&](BufferId buffer, uint32_t r) {
    return Range{buffer, r * share(), (r + 1) * share()};
  };
  auto ofAll = [&](const Range &range) {
    std::vector<EntryValue> values;
    for (uint32_t r = 0; r < ranks(); ++r)
      values.push_back({Rank{r}, range.slice()});
    return values;
  };
  switch (algorithm_->collective) {
  case Collective::Allreduce:
    promise(contract, output, true, ofAll(input));
    break;
  case Collective::Allgather:
    for (uint32_t r = 0; r < ranks(); ++r)
      promise(contract, part(kOutput, r), false, {{Rank{r}, input.slice()}});
    break;
  case Collective::ReduceScatter:
    promise(contract, output, true, ofAll(part(kInput, rank)));
    break;
  case Collective::Alltoall:
    for (uint32_t r = 0; r < ranks(); ++r)
      promise(contract, part(kOutput, r), false, {{Rank{r}, part(kInput, rank).slice()}});
    break;
  case Collective::Broadcast:
    promise(contract, output, false, {{Rank{root_}, input.slice()}});
    break;
  case Collective::Reduce:
    if (rank == root_)
      promise(contract, output, true, ofAll(input));
    break;
  case Collective::Custom:
    break;
  }
}

} // namespace colldsl::msccl
