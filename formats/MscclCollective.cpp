#include "formats/MscclCollective.h"

#include "ir/Concat.h"

#include <algorithm>
#include <optional>

namespace colldsl::msccl {
namespace {

/// A promise in chunks.
struct Promise {
  Range target;
  const Ensure *ensure;
};

/// Checks if the promises are those of one collective. If one parameter is input and output, a
/// rank's part stands in it where it stands in the whole.
class Recognizer {
public:
  Recognizer(const Schedule &schedule, const Chunks &chunks, Signature signature)
      : schedule_(schedule), chunks_(chunks), signature_(signature), ranks_(schedule.numRanks()) {}

  std::optional<Signature> as(Collective collective);

private:
  bool keeps(uint32_t rank);
  bool covers(uint32_t rank, std::vector<Promise> &promises) const;
  bool keepsOne(uint32_t rank, const Promise &promise);
  bool isFrom(uint32_t rank, const Range &input, const EntryValue &operand) const;
  bool isSum(const Range &input, const Ensure &ensure, uint32_t rank) const;
  bool isBoth() const { return signature_.input == signature_.output; }
  bool fitsSizes();

  const Schedule &schedule_;
  const Chunks &chunks_;
  Signature signature_;
  uint32_t ranks_;
  uint32_t share_ = 0; ///< of one rank, in chunks
  uint32_t root_ = UINT32_MAX;
};

// Chunks of input and output as MSCCL counts them.
bool Recognizer::fitsSizes() {
  uint32_t &in = signature_.inputChunks, &out = signature_.outputChunks;
  uint32_t all = std::max(in, out);
  signature_.chunksPerLoop = all;
  share_ = all / ranks_;
  bool isDivided = all % ranks_ == 0;
  switch (signature_.collective) {
  case Collective::Allgather:
    in = isBoth() ? share_ : in;
    return isDivided && in == share_ && out == all;
  case Collective::ReduceScatter:
    out = isBoth() ? share_ : out;
    return isDivided && in == all && out == share_;
  case Collective::Alltoall:
    return isDivided && in == out;
  case Collective::Allreduce:
  case Collective::Broadcast:
  case Collective::Reduce:
    return in == out;
  case Collective::Custom:
    return (in == 0 || in == all) && (out == 0 || out == all);
  }
  return false;
}

bool Recognizer::isFrom(uint32_t rank, const Range &input, const EntryValue &operand) const {
  const Dag &dag = schedule_.ranks[rank];
  return index(operand.rank) == rank &&
         chunks_.range(dag, operand.slice) == chunks_.stored(dag, input);
}

bool Recognizer::isSum(const Range &input, const Ensure &ensure, uint32_t rank) const {
  auto operands = schedule_.ranks[rank].contract.operandsOf(ensure);
  if (!ensure.isReduction || ensure.reduction != Reduction::Sum || operands.size() != ranks_)
    return false;
  std::vector<bool> seen(ranks_);
  return std::ranges::all_of(operands, [&](const EntryValue &operand) {
    uint32_t from = index(operand.rank);
    bool isNew = from < ranks_ && !seen[from];
    if (isNew)
      seen[from] = true;
    return isNew && isFrom(from, input, operand);
  });
}

bool Recognizer::keepsOne(uint32_t rank, const Promise &promise) {
  const Ensure &ensure = *promise.ensure;
  auto operands = schedule_.ranks[rank].contract.operandsOf(ensure);
  Range at = promise.target;
  at.buffer = signature_.input;
  uint32_t part = share_ == 0 ? 0 : at.begin / share_;
  bool isInPart = share_ != 0 && at.end <= (part + 1) * share_;
  auto shifted = [&](int64_t by) {
    return Range{at.buffer, static_cast<uint32_t>(at.begin + by),
                 static_cast<uint32_t>(at.end + by)};
  };
  int64_t partBegin = int64_t{part} * share_, ownBegin = int64_t{rank} * share_;
  bool isPlain = !ensure.isReduction && operands.size() == 1;
  switch (signature_.collective) {
  case Collective::Allreduce:
    return isSum(at, ensure, rank);
  case Collective::Allgather:
    return isInPart && isPlain && isFrom(part, shifted(isBoth() ? 0 : -partBegin), operands[0]);
  case Collective::ReduceScatter:
    return isSum(shifted(isBoth() ? 0 : ownBegin), ensure, rank);
  case Collective::Alltoall:
    return isInPart && isPlain && isFrom(part, shifted(ownBegin - partBegin), operands[0]);
  case Collective::Broadcast:
    root_ = isPlain && root_ == UINT32_MAX ? index(operands[0].rank) : root_;
    return isPlain && isFrom(root_, at, operands[0]);
  case Collective::Reduce:
    root_ = root_ == UINT32_MAX ? rank : root_;
    return root_ == rank && isSum(at, ensure, rank);
  case Collective::Custom:
    return true;
  }
  return false;
}

// True if promises cover all of the output, once; for a reduce, on one rank.
bool Recognizer::covers(uint32_t rank, std::vector<Promise> &promises) const {
  std::ranges::sort(promises, {}, [](const Promise &p) { return p.target.begin; });
  uint32_t begin = 0, end = signature_.outputChunks;
  if (signature_.collective == Collective::ReduceScatter && isBoth()) {
    begin = rank * share_;
    end = begin + share_;
  }
  for (const Promise &promise : promises) {
    if (promise.target.begin != begin)
      return false;
    begin = promise.target.end;
  }
  return begin == end || (signature_.collective == Collective::Reduce && promises.empty());
}

bool Recognizer::keeps(uint32_t rank) {
  const Dag &dag = schedule_.ranks[rank];
  Range output = chunks_.stored(dag, {signature_.output, 0, 0});
  std::vector<Promise> promises;
  for (const Ensure &ensure : dag.contract.ensures) {
    if (ensure.operandCount == 0) // any collective may leave anything there
      continue;
    Range target = chunks_.range(dag, ensure.target);
    if (target.buffer != output.buffer || target.begin < output.begin)
      return false;
    if (target.size() != 0)
      promises.push_back(
          {{signature_.output, target.begin - output.begin, target.end - output.begin}, &ensure});
  }
  return covers(rank, promises) && std::ranges::all_of(promises, [&](const Promise &promise) {
           return keepsOne(rank, promise);
         });
}

std::optional<Signature> Recognizer::as(Collective collective) {
  signature_.collective = collective;
  if (!fitsSizes())
    return std::nullopt;
  if (collective == Collective::Custom)
    return signature_;
  for (uint32_t r = 0; r < ranks_; ++r)
    if (!keeps(r))
      return std::nullopt;
  bool hasRoot = collective == Collective::Reduce || collective == Collective::Broadcast;
  if (hasRoot && root_ >= ranks_)
    return std::nullopt;
  signature_.root = hasRoot ? root_ : 0;
  return signature_;
}

Status failParameters(const Schedule &schedule, uint32_t rank,
                      const std::vector<BufferId> &parameters) {
  std::string names;
  for (BufferId b : parameters) {
    const Buffer &buffer = schedule.ranks[rank].buffers[index(b)];
    names +=
        concat(names.empty() ? ": " : ", ", spelling(buffer.role), " ", schedule.nameOf(buffer));
  }
  std::string place = rank == 0 ? "" : concat("rank ", rank, ": ");
  return Status::error(concat(place, "MSCCL's collectives have one input and one output, '",
                              schedule.name, "' has ", parameters.size(),
                              parameters.size() == 1 ? " parameter" : " parameters", names));
}

// Finds out if input and output share storage. They must do so on all ranks or none, except where
// one of the two is not significant.
Status findAliases(const Schedule &schedule, Signature &signature) {
  auto buffersOf = [&](uint32_t r) -> std::pair<const Buffer &, const Buffer &> {
    const std::vector<Buffer> &buffers = schedule.ranks[r].buffers;
    return {buffers[index(signature.input)], buffers[index(signature.output)]};
  };
  auto isAlias = [&](uint32_t r) {
    auto [in, out] = buffersOf(r);
    return signature.input == signature.output || in.aliasOf != kNoBuffer ||
           out.aliasOf != kNoBuffer;
  };
  for (uint32_t r = 0; r < schedule.numRanks(); ++r)
    signature.inPlace = signature.inPlace || isAlias(r);
  for (uint32_t r = 0; r < schedule.numRanks() && signature.inPlace; ++r)
    if (auto [in, out] = buffersOf(r); !isAlias(r) && in.significant && out.significant)
      return Status::error(concat("rank ", r, ": '", schedule.nameOf(in), "' and '",
                                  schedule.nameOf(out), "' are apart, on other ranks in place"));
  return {};
}

/// Input and output of one rank.
Result<Signature> findParameters(const Schedule &schedule, uint32_t rank) {
  Signature signature;
  const Dag &dag = schedule.ranks[rank];
  std::vector<BufferId> parameters;
  for (uint32_t b = 0; b < dag.buffers.size(); ++b)
    if (dag.buffers[b].role != BufferRole::Temp)
      parameters.push_back(BufferId{b});
  auto is = [&](size_t i, BufferRole role) {
    return dag.buffers[index(parameters[i])].role == role;
  };
  if (parameters.size() == 1 && is(0, BufferRole::InOut))
    signature.input = signature.output = parameters[0];
  else if (parameters.size() == 2 && !is(0, BufferRole::Out) && is(1, BufferRole::Out))
    signature.input = parameters[0], signature.output = parameters[1];
  else
    return failParameters(schedule, rank, parameters);
  return signature;
}

/// The chunks of a parameter, which must be as many on every rank for MSCCL's collectives.
Result<uint32_t> sizeOnAll(const Schedule &schedule, const Chunks &chunks, BufferId id) {
  uint32_t first = chunks.size(schedule.ranks[0].buffers[index(id)]);
  for (uint32_t r = 1; r < schedule.numRanks(); ++r) {
    const Buffer &buffer = schedule.ranks[r].buffers[index(id)];
    if (uint32_t size = chunks.size(buffer); size != first)
      return Status::error(concat("MSCCL's collectives have parameters of one size on all ranks, '",
                                  schedule.nameOf(buffer), "' has ", first,
                                  " chunks on rank 0 and ", size, " on rank ", r));
  }
  return first;
}

/// Finds input and output, which must be the same parameters on all ranks, and notes if they share
/// storage.
Result<Signature> parametersOf(const Schedule &schedule, const Chunks &chunks) {
  if (schedule.ranks.empty())
    return Status::error("a schedule without ranks is no algorithm of MSCCL");
  Result<Signature> found = findParameters(schedule, 0);
  for (uint32_t r = 1; r < schedule.numRanks() && found; ++r) {
    Result<Signature> other = findParameters(schedule, r);
    if (!other)
      return other;
    if (other->input != found->input || other->output != found->output)
      return Status::error(concat("rank ", r, ": the parameters stand elsewhere than on rank 0"));
  }
  if (!found)
    return found;
  Signature signature = found.take();
  Result<uint32_t> inputChunks = sizeOnAll(schedule, chunks, signature.input);
  if (!inputChunks)
    return inputChunks.status();
  Result<uint32_t> outputChunks = sizeOnAll(schedule, chunks, signature.output);
  if (!outputChunks)
    return outputChunks.status();
  signature.inputChunks = *inputChunks;
  signature.outputChunks = *outputChunks;
  if (std::max(signature.inputChunks, signature.outputChunks) == 0)
    return Status::error(concat("'", schedule.name, "' was made for no data"));
  if (Status s = findAliases(schedule, signature); !s)
    return s;
  return signature;
}

} // namespace

Result<Signature> signatureOf(const Schedule &schedule, const Chunks &chunks) {
  Result<Signature> parameters = parametersOf(schedule, chunks);
  if (!parameters)
    return parameters.status();
  for (Collective collective :
       {Collective::Allreduce, Collective::Allgather, Collective::ReduceScatter,
        Collective::Alltoall, Collective::Broadcast, Collective::Reduce, Collective::Custom}) {
    if (collective != Collective::Custom && !schedule.hasContract)
      continue;
    if (auto found = Recognizer(schedule, chunks, *parameters).as(collective))
      return *found;
  }
  return Status::error(concat("'", schedule.name, "' is none of MSCCL's collectives, and a custom ",
                              "one has an input and an output of one size, here ",
                              parameters->inputChunks, " and ", parameters->outputChunks,
                              " chunks"));
}

} // namespace colldsl::msccl
