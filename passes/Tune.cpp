#include "passes/Tune.h"

#include "passes/Holes.h"

#include <algorithm>

namespace colldsl {

void Tune::describe(PassOptions &options) {
  options.number("most-ranks", "N", "with more ranks nothing is tried (default: 512)", mostRanks);
}

namespace {

/// A value to try: an expression of the program, or a number.
struct HoleValue {
  ExprId expr = kNoExpr;
  uint64_t number = 0;
};

class Tuner {
public:
  explicit Tuner(const HoleContext &context)
      : context_(context), decl_(context.program.decl(context.request.collective)),
        request_(context.request) {
    request_.arguments.resize(decl_.params.size(), kNoExpr);
    request_.values.resize(decl_.params.size());
  }

  Result<HoleOutcome> run() {
    Result<uint64_t> first = time(request_);
    if (!first) // what cannot be run with its defaults is told of elsewhere
      return HoleOutcome{{}, nullptr, "not tuned: " + first.message()};
    best_ = *first;
    for (int sweep = 0; sweep < 2; ++sweep)
      for (uint32_t p = 0; p < decl_.params.size(); ++p)
        for (const HoleValue &value : valuesOf(p))
          tryValue(p, value);
    HoleOutcome outcome;
    outcome.remark = std::to_string(*first) + " ns, then " + std::to_string(best_) + " ns";
    for (const auto &[p, value] : chosen_) {
      std::string text = value.expr == kNoExpr ? std::to_string(value.number) : std::string();
      outcome.fillings.push_back({p, text, value.expr});
      outcome.remark += "; " + context_.program.nameOf(decl_.params[p]) + " = " +
                        (text.empty() ? wordOf(value.expr) : text);
    }
    return outcome;
  }

private:
  std::string wordOf(ExprId id) const {
    const Expr &expr = context_.program.expr(id);
    bool isTree = expr.kind == ExprKind::MakeTree;
    return isTree ? context_.program.nameOf(
                        context_.program.decl(DeclId{static_cast<uint32_t>(expr.value)}))
                  : "its candidate in line " + std::to_string(expr.loc.line);
  }

  bool isHole(uint32_t p) const {
    std::vector<uint32_t> holes = holesOf(context_, decl_.params[p].type);
    return std::find(holes.begin(), holes.end(), p) != holes.end();
  }

  std::vector<HoleValue> valuesOf(uint32_t p) const {
    std::vector<HoleValue> values;
    const Param &param = decl_.params[p];
    if (param.isBuffer || param.candidates.empty() || !isHole(p))
      return values;
    bool isInterval = param.candidates.size() == 1 && param.candidates[0].hi != kNoExpr &&
                      (param.type == ValueType::Int || param.type == ValueType::Bytes);
    if (isInterval) {
      auto [least, most] = intervalOf(context_, p);
      for (uint64_t number = 1; number <= uint64_t{1} << 26; number *= 2)
        if (least <= number && number <= most)
          values.push_back({kNoExpr, number});
      return values;
    }
    for (const Candidate &candidate : param.candidates)
      for (ExprId end : {candidate.lo, candidate.hi})
        if (end != kNoExpr)
          values.push_back({end, 0});
    return values;
  }

  Result<uint64_t> time(const InstantiateRequest &request) const {
    return context_.cost.makespanNs(context_.program, request);
  }

  void tryValue(uint32_t p, const HoleValue &value) {
    InstantiateRequest request = request_;
    request.arguments[p] = value.expr;
    request.values[p] =
        value.expr == kNoExpr ? GivenValue(static_cast<int64_t>(value.number)) : GivenValue();
    Result<uint64_t> now = time(request); // a value that does not fit is no candidate
    if (!now || *now >= best_)
      return;
    best_ = *now;
    request_ = std::move(request);
    std::erase_if(chosen_, [&](const auto &other) { return other.first == p; });
    chosen_.emplace_back(p, value);
  }

  const HoleContext &context_;
  const Decl &decl_;
  InstantiateRequest request_;
  uint64_t best_ = 0;
  std::vector<std::pair<uint32_t, HoleValue>> chosen_;
};

bool hasCallTimeBlocks(const Decl &decl) {
  return std::any_of(decl.params.begin(), decl.params.end(), [](const Param &param) {
    DimKind kind = param.buffer.dim[param.buffer.dims - 1].kind;
    return param.isBuffer && kind == DimKind::CallTime;
  });
}

} // namespace

Result<HoleOutcome> tuneHoles(const HoleContext &context, const Tune &options) {
  if (context.request.ranks > options.mostRanks)
    return HoleOutcome{{}, nullptr, "not tuned: too many ranks"};
  if (hasCallTimeBlocks(context.program.decl(context.request.collective)))
    return HoleOutcome{{}, nullptr, "not tuned: sizes are known at call time only"};
  return Tuner(context).run();
}

} // namespace colldsl
