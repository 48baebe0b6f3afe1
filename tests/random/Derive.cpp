#include "tests/random/Derive.h"

#include "tests/mutation/Run.h"
#include "tests/random/Build.h"
#include "tests/random/Interpret.h"
#include "tests/random/Lengths.h"

#include <algorithm>
#include <map>
#include <set>
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
  int64_t block = -1; ///< of a buffer whose blocks have lengths of their own
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
          operands[i].block != first.operands[i].block ||
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
          promiseBuffer(r, b, schedule->ranks[r].buffers[b]);
    for (uint32_t b = 0; b < buffers_.size(); ++b)
      if (buffers_[b]->role == BufferRole::Out && !promised_.contains(b))
        program_.main().ensures = any;
  }

private:
  /// False: it comes to no end.
  bool execute(Schedule &schedule) {
    allowAllWrites(schedule);
    sizes_ = sizesFor(program_, schedule);
    for (uint32_t r = 0; r < program_.ranks; ++r)
      storages_.emplace_back(schedule.ranks[r], sizes_[r], tokens_);
    for (uint32_t r = 0; r < program_.ranks; ++r)
      for (uint32_t b = 0; b < buffers_.size(); ++b)
        if (buffers_[b]->role != BufferRole::Out)
          forEachElement(schedule.ranks[r], r, b, [&](Origin origin) {
            origins_[storages_[r].entry()[cellOf(origin)]] = origin;
          });
    mutation::Run run(schedule, storages_, tokens_);
    if (run.execute({}))
      return false;
    finals_.resize(program_.ranks);
    for (uint32_t r = 0; r < program_.ranks; ++r)
      for (uint32_t cell = 0; cell < storages_[r].entry().size(); ++cell)
        finals_[r].push_back(run.token(Rank{r}, cell));
    return true;
  }

  template <typename Body>
  void forEachElement(const Dag &dag, uint32_t rank, uint32_t b, Body body) const {
    const Buffer &buffer = dag.buffers[b];
    if (buffer.layout == Layout::Dense)
      for (int64_t i = 0; i < buffer.endOffset; ++i)
        body({rank, b, i});
    else
      for (uint32_t block = 0; block < buffer.blocks; ++block)
        for (int64_t i = 0; i < program_.lengths.of(rank, b, block); ++i)
          body({rank, b, i, block});
  }

  void allowAllWrites(Schedule &schedule) const {
    for (Dag &dag : schedule.ranks) {
      dag.contract = {};
      for (uint32_t b = 0; b < buffers_.size(); ++b) {
        if (buffers_[b]->role == BufferRole::In)
          continue;
        colldsl::Ensure any;
        any.target.buffer = BufferId{b};
        any.target.endOffset = dag.buffers[b].endOffset;
        bool isDense = dag.buffers[b].layout == Layout::Dense;
        if (!isDense)
          any.target.endOffset = 0;
        any.target.endScale = isDense ? 0 : 1;
        for (uint32_t block = 0; block < (isDense ? 1 : dag.buffers[b].blocks); ++block) {
          any.target.block = isDense ? kNoBlock : block;
          dag.contract.ensures.push_back(any);
        }
      }
    }
  }

  uint32_t cellOf(const Origin &at) const {
    Slice slice;
    slice.beginOffset = at.element;
    slice.endOffset = at.element + 1;
    slice.buffer = BufferId{at.buffer};
    if (at.block >= 0)
      slice.block = static_cast<uint32_t>(at.block);
    return storages_[at.rank].locate(slice, at.element + 1)->begin;
  }

  /// None: no promise can say it.
  std::optional<Value> valueOf(const Origin &at) const {
    Token token = finals_[at.rank][cellOf(at)];
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

  void promiseBuffer(uint32_t rank, uint32_t buffer, const Buffer &made) {
    if (made.layout == Layout::Dense)
      return promiseElements(rank, buffer, made.endOffset);
    for (uint32_t block = 0; block < made.blocks; ++block)
      promiseBlock({rank, buffer, 0, block});
  }

  int64_t lengthOf(const Origin &at) const {
    return program_.lengths.of(at.rank, at.buffer, static_cast<uint32_t>(at.block));
  }

  /// A block that holds another one, or some combined, from begin to end.
  void promiseBlock(const Origin &at) {
    int64_t length = lengthOf(at);
    std::optional<Value> first = length > 0 ? valueOf(at) : std::nullopt;
    bool isWhole = first.has_value();
    for (size_t i = 0; isWhole && i < first->operands.size(); ++i) {
      const Origin &operand = first->operands[i];
      isWhole = operand.block >= 0 && operand.element == 0 && lengthOf(operand) == length;
    }
    for (int64_t i = 1; isWhole && i < length; ++i) {
      std::optional<Value> next = valueOf({at.rank, at.buffer, i, at.block});
      isWhole = next && next->continues(*first, i);
    }
    if (isWhole)
      addBlock(at, *first);
  }

  SliceExpr blockOf(uint32_t buffer, Expr block) const {
    SliceExpr all = whole(buffers_[buffer]->name);
    return buffers_[buffer]->dims.size() > 1 ? generated::block(all, std::move(block)) : all;
  }

  void addBlock(const Origin &at, const Value &value) {
    std::vector<int64_t> ranks, blocks;
    for (const Origin &origin : value.operands) {
      ranks.push_back(origin.rank);
      blocks.push_back(origin.block);
    }
    Name i = program_.newName();
    state(at, value, i, ranks, blockOf(at.buffer, num(at.block)),
          blockOf(value.operands.front().buffer, listed(blocks, i)));
  }

  void promiseElements(uint32_t rank, uint32_t buffer, int64_t length) {
    bool isGrid = buffers_[buffer]->dims.size() > 1;
    auto line = isGrid ? program_.n() : length;
    for (int64_t begin = 0; begin < length;) {
      std::optional<Value> first = valueOf({rank, buffer, begin});
      if (first && first->operands.front().block >= 0)
        first.reset();
      int64_t end = begin + 1, most = begin - begin % line + line;
      for (; first && end < most; ++end) {
        std::optional<Value> next = valueOf({rank, buffer, end});
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
    auto n = program_.n();
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
    auto n = program_.n();
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
    Name i = program_.newName();
    SliceExpr target = sliceOf(buffer, num(begin / n), num(begin % n), length, isLine);
    SliceExpr operand = sliceOf(value.operands.front().buffer, listed(blocks, i),
                                listed(offsets, i), length, isLine);
    state({rank, buffer, begin}, value, i, ranks, target, operand);
  }

  /// Of the i-th operand, on ranks[i].
  void state(const Origin &at, const Value &value, Name i, const std::vector<int64_t> &ranks,
             const SliceExpr &target, const SliceExpr &operand) {
    promised_.insert(at.buffer);
    Range all = upto(num(0), num(static_cast<int64_t>(ranks.size())));
    Ensure e = value.how ? reduces(target, value.how->reduction, i, all, operand, listed(ranks, i))
                         : holds(target, operand, num(ranks.front()));
    program_.main().ensures.push_back(generated::at(equal(rankExpr(), num(at.rank)), e));
  }

  void promiseAnything() {
    for (const Param *param : buffers_)
      if (param->role != BufferRole::In && hasBlocks(*param))
        promiseNothing(*param);
      else if (param->role == BufferRole::InOut)
        program_.main().ensures.push_back(
            holds(whole(param->name), whole(param->name), rankExpr()));
    for (const Param *param : buffers_)
      if (param->role == BufferRole::Out && !hasBlocks(*param)) {
        Name r = program_.newName();
        program_.main().ensures.push_back(
            forAll(r, allRanks(),
                   holds(block(whole(param->name), var(r)), whole(denseInput().name), var(r))));
      }
  }

  const Param &denseInput() const {
    return **std::find_if(buffers_.begin(), buffers_.end(),
                          [](const Param *param) { return !hasBlocks(*param); });
  }

  void promiseNothing(const Param &param) {
    SliceExpr some = whole(param.name);
    if (param.dims.size() > 1)
      some = block(some, num(0));
    program_.main().ensures.push_back(at(equal(num(0), num(1)), holds(some, some, num(0))));
  }

  Program &program_;
  std::vector<const Param *> buffers_;
  mutation::Tokens tokens_;
  std::vector<Sizes> sizes_;    // per rank
  std::set<uint32_t> promised_; ///< buffers
  std::vector<mutation::Storage> storages_;
  std::map<Token, Origin> origins_;
  std::vector<std::vector<Token>> finals_; // per rank and cell
};

} // namespace

void deriveContract(Program &program) { Deriver(program).run(); }

} // namespace colldsl::generated
