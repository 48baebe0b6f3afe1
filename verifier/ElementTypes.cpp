#include "verifier/Checks.h"

#include "ir/Operators.h"

#include <optional>

namespace colldsl::proof {
namespace {

class ElementCheck {
public:
  ElementCheck(const Model &model, bool ownOperators, const DiagnosticNames &names,
               Failures &failures)
      : model_(model), ownOperators_(ownOperators), names_(names), failures_(failures) {}

  void check(Vertex v) {
    const Op &op = model_.op(v);
    if (op.kind != OpKind::Combine)
      return;
    if (Status s = checkOperator(op.reduction, op.type); !s)
      failures_.add({Proof::Contract,
                     names_.opOfRank(v) + ": " + s.message(),
                     {failures_.step(v, names_.op(v))}});
  }

  void check(Rank rank, const Ensure &ensure) {
    std::optional<ElementType> target = typeOf(rank, ensure.target);
    if (!target)
      return;
    if (Status s = ensure.isReduction ? checkOperator(ensure.reduction, *target) : Status(); !s)
      return report(rank, ensure, s);
    for (const EntryValue &operand : model_.dag(rank).contract.operandsOf(ensure)) {
      std::optional<ElementType> type = typeOf(operand.rank, operand.slice);
      if (Status s = type ? checkComparable(*target, *type) : Status(); !s)
        return report(rank, ensure, s);
    }
  }

private:
  Status checkOperator(Reduction reduction, ElementType type) const {
    return ownOperators_ ? Status() : checkDefined(reduction, type);
  }

  /// Nothing if there is no such buffer; a later proof reports that.
  std::optional<ElementType> typeOf(Rank rank, const Slice &slice) const {
    if (index(rank) >= model_.numRanks() || index(slice.buffer) >= model_.dag(rank).buffers.size())
      return std::nullopt;
    return model_.dag(rank).bufferOf(slice).type;
  }

  void report(Rank rank, const Ensure &ensure, const Status &why) {
    std::string where = names_.slice(rank, ensure.target);
    failures_.add({Proof::Contract,
                   rankWord(rank) + ": " + where + ": " + why.message(),
                   {{rank, kNoOp, ensure.loc, "promises " + where}}});
  }

  const Model &model_;
  bool ownOperators_;
  const DiagnosticNames &names_;
  Failures &failures_;
};

} // namespace

void checkElements(const Model &model, bool ownOperators, const DiagnosticNames &names,
                   Failures &failures) {
  ElementCheck elements(model, ownOperators, names, failures);
  for (uint32_t v = 0; v < model.numVertices() && !failures.full(); ++v)
    elements.check(Vertex{v});
  for (uint32_t r = 0; r < model.numRanks() && !failures.full(); ++r)
    for (const Ensure &ensure : model.dag(Rank{r}).contract.ensures)
      elements.check(Rank{r}, ensure);
}

} // namespace colldsl::proof
