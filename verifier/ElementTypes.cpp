#include "verifier/Checks.h"

#include "ir/Operators.h"

#include <optional>

namespace colldsl::proof {
namespace {

class ElementCheck : Check {
public:
  ElementCheck(const Check &check, bool ownOperators) : Check(check), ownOperators_(ownOperators) {}

  void run() {
    for (uint32_t v = 0; v < model_.numVertices() && !failures_.full(); ++v)
      check(Vertex{v});
    for (uint32_t r = 0; r < model_.numRanks() && !failures_.full(); ++r)
      for (const Ensure &ensure : model_.dag(Rank{r}).contract.ensures)
        check(Rank{r}, ensure);
  }

private:
  void check(Vertex v) {
    const Op &op = model_.op(v);
    if (op.kind != OpKind::Combine)
      return;
    if (Status s = checkOperator(op.reduction, op.type); !s)
      failAt(Proof::Contract, v, ": " + s.message());
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
    failStatement(Proof::Contract, rank, ensure, names_.slice(rank, ensure.target),
                  ": " + why.message());
  }

  bool ownOperators_;
};

} // namespace

void checkElements(const Check &check, bool ownOperators) {
  ElementCheck(check, ownOperators).run();
}

} // namespace colldsl::proof
