#include "formats/ServedFunction.h"

#include "formats/MscclCollective.h"
#include "ir/Concat.h"

#include <algorithm>

namespace colldsl {
namespace {

using msccl::Collective;

constexpr uint32_t kInput = 0, kOutput = 1, kParameters = 2;

bool hasParameters(const std::vector<Buffer> &buffers) {
  return buffers.size() >= kParameters && buffers[kInput].role != BufferRole::Out &&
         buffers[kInput].role != BufferRole::Temp && buffers[kOutput].role == BufferRole::Out &&
         std::all_of(buffers.begin() + kParameters, buffers.end(),
                     [](const Buffer &b) { return b.role == BufferRole::Temp; });
}

// One input, which programs keep, and one output, of one type.
Status checkBuffers(const Schedule &schedule) {
  for (uint32_t r = 0; r < schedule.numRanks(); ++r) {
    const std::vector<Buffer> &buffers = schedule.ranks[r].buffers;
    if (!hasParameters(buffers))
      return Status::error(concat("rank ", r, " has not one input and one output"));
    for (const Buffer &buffer : buffers) {
      std::string name = concat("rank ", r, ": '", schedule.nameOf(buffer), "' ");
      if (buffer.role == BufferRole::InOut)
        return Status::error(name + "is an input that the schedule writes, and calls keep theirs");
      if (buffer.layout != Layout::Dense || !buffer.significant)
        return Status::error(name + "has blocks of their own lengths, or is of no significance");
      ElementType type = schedule.ranks[0].buffers[kInput].type;
      if (buffer.type != type)
        return Status::error(concat(name, "has elements of ", spelling(buffer.type),
                                    ", the input of rank 0 has ", spelling(type)));
    }
  }
  return {};
}

bool hasFormInPlace(Collective collective) {
  return collective == Collective::Allreduce || collective == Collective::Allgather;
}

bool isServed(Collective collective) {
  return hasFormInPlace(collective) || collective == Collective::ReduceScatter ||
         collective == Collective::Alltoall;
}

// An error if a schedule in place has its input elsewhere than a call: there it is the caller's
// part of the output.
Status checkPlace(const Schedule &schedule, const msccl::Chunks &chunks, Collective collective) {
  for (uint32_t r = 0; r < schedule.numRanks(); ++r) {
    const Dag &dag = schedule.ranks[r];
    uint32_t size = chunks.size(dag.buffers[kInput]);
    uint32_t begin = collective == Collective::Allgather ? r * size : 0;
    msccl::Range wanted{BufferId{kOutput}, begin, begin + size};
    if (!(chunks.stored(dag, {BufferId{kInput}, 0, size}) == wanted))
      return Status::error(concat("rank ", r, ": '", schedule.nameOf(dag.buffers[kInput]),
                                  "' does not lie in '", schedule.nameOf(dag.buffers[kOutput]),
                                  "' as it does in calls in place"));
  }
  return {};
}

/// Elements of a call's n per element of the schedule's.
Result<uint32_t> unitOf(const Schedule &schedule, Collective collective) {
  uint32_t b = collective == Collective::ReduceScatter ? kOutput : kInput;
  const Buffer &counted = schedule.ranks[0].buffers[b];
  int64_t parts = collective == Collective::Alltoall ? schedule.numRanks() : 1;
  int64_t whole = parts * int64_t{counted.denominator};
  if (counted.endScale % whole != 0 || counted.endScale / whole > UINT32_MAX)
    return Status::error(concat("'", schedule.nameOf(counted), "' has no multiple of n elements",
                                parts > 1 ? " for each rank" : ""));
  return static_cast<uint32_t>(counted.endScale / whole);
}

} // namespace

Result<ServedFunction> servedFunction(const Schedule &schedule) {
  if (!schedule.hasContract)
    return Status::error("it has no contract");
  if (Status s = checkBuffers(schedule); !s)
    return s;
  Result<msccl::Chunks> chunks = msccl::Chunks::of(schedule);
  if (!chunks)
    return chunks.status();
  if (!chunks->areFractions())
    return Status::error("some of its positions are no fractions of n");
  Result<msccl::Signature> signature = msccl::signatureOf(schedule, *chunks);
  if (!signature)
    return signature.status();
  Collective collective = signature->collective;
  if (!isServed(collective))
    return Status::error(concat("its contract is that of a ", spelling(collective),
                                " collective; calls are served by allreduce and reduce_scatter, ",
                                "with sums, allgather and alltoall"));
  if (signature->inPlace && !hasFormInPlace(collective))
    return Status::error(concat("it is in place, and no call of ", spelling(collective), " is"));
  if (Status s = signature->inPlace ? checkPlace(schedule, *chunks, collective) : Status(); !s)
    return s;
  Result<uint32_t> unit = unitOf(schedule, collective);
  if (!unit)
    return unit.status();
  return ServedFunction{collective, signature->inPlace, *unit};
}

KnownCollective knownCollective(const Schedule &schedule) {
  Schedule sums = schedule; // of which MSCCL knows no others
  for (Dag &dag : sums.ranks)
    for (Ensure &ensure : dag.contract.ensures)
      ensure.reduction = Reduction::Sum;
  Result<msccl::Chunks> chunks = msccl::Chunks::of(sums);
  if (!schedule.hasContract || !chunks)
    return {};
  Result<msccl::Signature> signature = msccl::signatureOf(sums, *chunks);
  if (!signature)
    return {};
  return {signature->collective, signature->inPlace, signature->root};
}

} // namespace colldsl
