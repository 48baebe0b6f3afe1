#include "tests/random/Derive.h"

#include "tests/mutation/Run.h"
#include "tests/random/Build.h"
#include "tests/random/Interpret.h"

#include <map>
#include <utility>

namespace colldsl::generated {
namespace {

using mutation::Combination;
using mutation::Token;

constexpr size_t kMaxOperands = 64;

/// An element of a parameter at entry.
struct Origin {
  uint32_t rank = 0;
  uint32_t buffer = 0;
  int64_t element = 0;
};

/// What one element holds at exit.
struct Value {
  std::optional<Combination> how;
  std::vector<Origin> operands;

  /// Whether it continues `first`, `by` elements further on.
  bool continues(const Value &first, int64_t by) const {
    if (how != first.how || operands.size() != first.operands.size())
      return false;
    for (size_t i = 0; i < operands.size(); ++i)
      if (operands[i].rank != first.operands[i].rank ||
          operands[i].buffer != first.operands[i].buffer ||
          operands[i].element != first.operands[i].element + by)
        return false;
    return true;
  }
};

class Deriver {
public:
  explicit Deriver(Program &program) : program_(program), tokens_(kMaxOperands) {
    for (const Param &param : program.main().params)
      if (param.kind == Param::Kind::Buffer)
        buffers_.push_back(&param);
  }

  void run() {
    promiseAnything();
    Result<Schedule> schedule = interpret(program_);
    std::vector<Ensure> any = std::exchange(program_.main().ensures, {});
    if (!schedule || !execute(*schedule)) {
      program_.main().ensures = any;
      return;
    }
    for (uint32_t r = 0; r < program_.ranks; ++r)
      for (uint32_t b = 0; b < buffers_.size(); ++b)
        if (buffers_[b]->role != BufferRole::In)
          promiseBuffer(r, b, schedule->ranks[r].buffers[b].endOffset);
    if (!isPromised_)
      program_.main().ensures = any;
  }

private:
  /// False: it comes to no end.
  bool execute(Schedule &schedule) {
    allowAllWrites(schedule);
    sizes_.elements = program_.elements;
    for (const Dag &dag : schedule.ranks)
      storages_.emplace_back(dag, sizes_, tokens_);
    for (uint32_t r = 0; r < program_.ranks; ++r)
      for (uint32_t b = 0; b < buffers_.size(); ++b)
        for (int64_t i = 0; i < schedule.ranks[r].buffers[b].endOffset; ++i)
          if (buffers_[b]->role != BufferRole::Out)
            origins_[storages_[r].entry()[cellOf(r, b, i)]] = {r, b, i};
    mutation::Run run(schedule, storages_, tokens_);
    if (run.execute({}))
      return false;
    finals_.resize(program_.ranks);
    for (uint32_t r = 0; r < program_.ranks; ++r)
      for (uint32_t cell = 0; cell < storages_[r].entry().size(); ++cell)
        finals_[r].push_back(run.token(Rank{r}, cell));
    return true;
  }

  void allowAllWrites(Schedule &schedule) const {
    for (Dag &dag : schedule.ranks) {
      dag.contract = {};
      for (uint32_t b = 0; b < buffers_.size(); ++b) {
        colldsl::Ensure any;
        any.target.endOffset = dag.buffers[b].endOffset;
        any.target.buffer = BufferId{b};
        if (buffers_[b]->role != BufferRole::In)
          dag.contract.ensures.push_back(any);
      }
    }
  }

  uint32_t cellOf(uint32_t rank, uint32_t buffer, int64_t element) const {
    Slice slice;
    slice.beginOffset = element;
    slice.endOffset = element + 1;
    slice.buffer = BufferId{buffer};
    return storages_[rank].locate(slice)->begin;
  }

  /// None: no promise can say it.
  std::optional<Value> valueOf(uint32_t rank, uint32_t buffer, int64_t element) const {
    Token token = finals_[rank][cellOf(rank, buffer, element)];
    if (token <= mutation::kTorn)
      return std::nullopt;
    Value value{tokens_.combinationOf(token), {}};
    std::vector<Token> operands{token};
    if (value.how) {
      std::optional<std::vector<Token>> all = tokens_.flattened(token, *value.how);
      if (!all)
        return std::nullopt;
      operands = *all;
    }
    for (Token operand : operands) {
      auto found = origins_.find(operand);
      if (found == origins_.end())
        return std::nullopt;
      value.operands.push_back(found->second);
      if (found->second.buffer != value.operands.front().buffer)
        return std::nullopt;
    }
    return value;
  }

  void promiseBuffer(uint32_t rank, uint32_t buffer, int64_t length) {
    bool isGrid = buffers_[buffer]->dims.size() > 1;
    auto line = isGrid ? static_cast<int64_t>(program_.elements) : length;
    for (int64_t begin = 0; begin < length;) {
      std::optional<Value> first = valueOf(rank, buffer, begin);
      int64_t end = begin + 1, most = begin - begin % line + line;
      for (; first && end < most; ++end) {
        std::optional<Value> next = valueOf(rank, buffer, end);
        if (!next || !next->continues(*first, end - begin) || crosses(*first, end - begin))
          break;
      }
      if (first)
        add(rank, buffer, begin, end, *first);
      begin = end;
    }
  }

  /// Whether an operand so many elements further on lies in another block.
  bool crosses(const Value &first, int64_t by) const {
    auto n = static_cast<int64_t>(program_.elements);
    for (const Origin &origin : first.operands)
      if (buffers_[origin.buffer]->dims.size() > 1 &&
          (origin.element + by) / n != origin.element / n)
        return true;
    return false;
  }

  SliceExpr sliceOf(uint32_t buffer, Expr block, Expr begin, int64_t length, bool isWhole) const {
    SliceExpr line = whole(buffers_[buffer]->name);
    if (buffers_[buffer]->dims.size() > 1)
      line = generated::block(line, std::move(block));
    return isWhole ? line : elements(line, begin, plus(begin, num(length)));
  }

  static bool allEqual(const std::vector<int64_t> &list) {
    for (int64_t value : list)
      if (value != list.front())
        return false;
    return true;
  }

  Expr listed(const std::vector<int64_t> &list, Name at) const {
    return allEqual(list) ? num(list.front()) : element(list, var(at));
  }

  void add(uint32_t rank, uint32_t buffer, int64_t begin, int64_t end, const Value &value) {
    auto n = static_cast<int64_t>(program_.elements);
    int64_t length = end - begin;
    bool isLine = length == n;
    std::vector<int64_t> ranks, offsets, blocks;
    for (const Origin &origin : value.operands) {
      bool isGrid = buffers_[origin.buffer]->dims.size() > 1;
      ranks.push_back(origin.rank);
      blocks.push_back(isGrid ? origin.element / n : 0);
      offsets.push_back(isGrid ? origin.element % n : origin.element);
      isLine &= offsets.back() == 0;
    }
    isPromised_ |= buffers_[buffer]->role == BufferRole::Out;
    Name i = program_.newName();
    SliceExpr target = sliceOf(buffer, num(begin / n), num(begin % n), length, isLine);
    SliceExpr operand = sliceOf(value.operands.front().buffer, listed(blocks, i),
                                listed(offsets, i), length, isLine);
    Range all = upto(num(0), num(static_cast<int64_t>(ranks.size())));
    Ensure e = value.how ? reduces(target, value.how->reduction, i, all, operand, listed(ranks, i))
                         : holds(target, operand, num(ranks.front()));
    program_.main().ensures.push_back(at(equal(rankExpr(), num(rank)), e));
  }

  void promiseAnything() {
    for (const Param *param : buffers_)
      if (param->role == BufferRole::InOut)
        program_.main().ensures.push_back(
            holds(whole(param->name), whole(param->name), rankExpr()));
    for (const Param *param : buffers_)
      if (param->role == BufferRole::Out) {
        Name r = program_.newName();
        program_.main().ensures.push_back(forAll(
            r, allRanks(),
            holds(block(whole(param->name), var(r)), whole(buffers_.front()->name), var(r))));
      }
  }

  Program &program_;
  std::vector<const Param *> buffers_;
  mutation::Tokens tokens_;
  Sizes sizes_;
  bool isPromised_ = false; ///< something of an out buffer
  std::vector<mutation::Storage> storages_;
  std::map<Token, Origin> origins_;
  std::vector<std::vector<Token>> finals_; // per rank and cell
};

} // namespace

void deriveContract(Program &program) { Deriver(program).run(); }

} // namespace colldsl::generated
