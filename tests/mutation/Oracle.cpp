#include "tests/mutation/Oracle.h"

namespace colldsl::mutation {
namespace {

size_t mostOperands(const Schedule &schedule) {
  size_t most = 1;
  for (const Dag &dag : schedule.ranks)
    for (const Ensure &ensure : dag.contract.ensures)
      most = std::max<size_t>(most, ensure.operandCount);
  return most;
}

bool announces(const Schedule &schedule) {
  for (const Dag &dag : schedule.ranks)
    for (const Op &op : dag.ops)
      if (op.transfer.announced)
        return true;
  return false;
}

} // namespace

Oracle::Oracle(const Schedule &original, const std::vector<Sizes> &sizes, const Trials &trials)
    : original_(original), trials_(trials), tokens_(mostOperands(original)) {
  for (uint32_t r = 0; r < original.numRanks(); ++r)
    storages_.emplace_back(original.ranks[r], sizes[r], tokens_);
  for (uint32_t r = 0; r < original.numRanks(); ++r)
    for (const Ensure &ensure : original.ranks[r].contract.ensures)
      addPromise(Rank{r}, ensure);
}

void Oracle::addPromise(Rank rank, const Ensure &ensure) {
  const Dag &dag = original_.ranks[index(rank)];
  Promise promise{rank, ensure.target, ensure.isReduction, {}, {}, {}};
  promise.how = {ensure.reduction, dag.bufferOf(ensure.target).type};
  std::vector<std::vector<Token>> operands; // per element
  for (const EntryValue &operand : dag.contract.operandsOf(ensure)) {
    const Storage &storage = storages_[index(operand.rank)];
    Cells cells = storage.locateAtEntry(operand.slice).value();
    operands.resize(cells.length);
    for (uint32_t i = 0; i < cells.length; ++i)
      operands[i].push_back(storage.entry()[cells.begin + i]);
  }
  for (std::vector<Token> &list : operands) {
    if (ensure.isReduction)
      promise.lists.push_back(tokens_.listOf(std::move(list), promise.how));
    else
      promise.tokens.push_back(list.front());
  }
  promises_.push_back(std::move(promise));
}

Finding Oracle::findFault(const Schedule &mutant, const std::vector<OpPlace> &suspects) {
  tokens_.trim();
  Run run(mutant, storages_, tokens_);
  Finding finding;
  auto attempt = [&](const OrderOptions &options) {
    if (!finding)
      finding = run.execute(options);
    if (!finding)
      finding = judge(run);
  };
  auto random = [&](uint32_t order) { return static_cast<Choice>(order % kRandomChoices); };
  auto seed = [&](uint32_t order) { return trials_.seed << 32 | order; };
  for (uint32_t i = 0; i < trials_.unbuffered; ++i)
    attempt({Buffering::None, random(i), seed(i), kNoRank, {}});
  for (OpPlace slow : suspects)
    for (Buffering buffering : {Buffering::None, Buffering::Unlimited})
      attempt({buffering, Choice::SlowOne, seed(0), kNoRank, slow});
  for (uint32_t i = 0; i < trials_.buffered; ++i)
    attempt({Buffering::Unlimited, random(i), seed(trials_.unbuffered + i), kNoRank, {}});
  attempt({Buffering::Channels, Choice::AnyStep, seed(0), kNoRank, {}});
  for (uint32_t r = 0; r < mutant.numRanks() && (mutant.synchronizes || announces(mutant)); ++r)
    attempt({Buffering::Unlimited, random(r), seed(r), Rank{r}, {}});
  return finding;
}

Finding Oracle::judge(const Run &run) {
  trees_.clear();
  for (const Promise &promise : promises_)
    if (Finding finding = judge(promise, run))
      return finding;
  return {};
}

Finding Oracle::judge(const Promise &promise, const Run &run) {
  const Storage &storage = storages_[index(promise.rank)];
  BlockLength length = storage.travels(promise.target)
                           ? run.length(promise.rank, storage.lengthIndex(promise.target))
                           : kNoLength;
  std::optional<Cells> cells = storage.locate(promise.target, length);
  if (!cells || cells->length != promise.length())
    return {"ends with a block of another length than was promised", promise.rank, kNoOp};
  for (uint32_t i = 0; i < cells->length; ++i) {
    Token token = run.token(promise.rank, cells->begin + i);
    bool holds = promise.isReduction ? tokens_.operandsOf(token, promise.how) == promise.lists[i]
                                     : token == promise.tokens[i] && token > kTorn;
    if (!holds)
      return {"ends with " +
                  std::string(token == kTorn        ? "torn data"
                              : token == kUnwritten ? "nothing"
                                                    : "another value") +
                  " in element " + std::to_string(i) + " of what it promises",
              promise.rank, kNoOp};
    if (promise.isReduction && original_.deterministic)
      if (Finding finding = judgeTree(promise, i, token))
        return finding;
  }
  return {};
}

/// All ranks that promise a reduction must have come to it in the same way.
Finding Oracle::judgeTree(const Promise &promise, size_t element, Token token) {
  auto list = static_cast<size_t>(promise.lists[element]);
  if (trees_.size() <= list)
    trees_.resize(list + 1, {kUnwritten, kNoRank});
  auto &[first, rank] = trees_[list];
  if (first == kUnwritten) {
    first = token;
    rank = promise.rank;
  }
  if (first == token)
    return {};
  return {"combines element " + std::to_string(element) + " of a promise differently from rank " +
              std::to_string(index(rank)),
          promise.rank, kNoOp};
}

} // namespace colldsl::mutation
