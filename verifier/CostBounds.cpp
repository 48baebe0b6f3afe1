#include "verifier/Checks.h"

#include "ir/Concat.h"
#include "verifier/MessageDepths.h"
#include "verifier/PortRounds.h"

#include <algorithm>

namespace colldsl::proof {
namespace {

/// The amount that one rank spends, and the op that raised it to that.
struct Spent {
  uint64_t amount = 0;
  Vertex last = kNoVertex; ///< the op that reached the amount
};

class CostCheck {
public:
  CostCheck(const EventGraph &graph, const Placement &placement, std::span<const Event> order)
      : graph_(graph), model_(graph.model()), placement_(placement), order_(order) {}

  Spent spent(Rank rank, Cost cost) {
    switch (cost) {
    case Cost::Rounds:
      if (rounds_.empty())
        rounds_ = portRounds(graph_);
      return largest(rank, rounds_);
    case Cost::Depth:
      if (depths_.empty())
        depths_ = messageDepths(graph_, order_);
      return largest(rank, depths_);
    case Cost::Sent:
      return bytes(rank, true);
    case Cost::Received:
      return bytes(rank, false);
    }
    return {};
  }

private:
  Spent largest(Rank rank, const std::vector<uint32_t> &ofVertex) const {
    Spent spent;
    for (Vertex v = model_.firstOf(rank); v < endOf(rank); v = next(v))
      if (ofVertex[index(v)] > spent.amount)
        spent = {ofVertex[index(v)], v};
    return spent;
  }

  /// Counts only messages with bytes; others do not travel.
  Spent bytes(Rank rank, bool sent) const {
    Spent spent;
    for (Vertex v = model_.firstOf(rank); v < endOf(rank); v = next(v))
      if (exists(graph_.partnerOf(v)) && graph_.sends(v) == sent)
        spent = {spent.amount + messageBytes(model_, placement_, v), v};
    return spent;
  }

  Vertex endOf(Rank rank) const { return model_.firstOf(Rank{index(rank) + 1}); }
  static Vertex next(Vertex v) { return Vertex{index(v) + 1}; }

  const EventGraph &graph_;
  const Model &model_;
  const Placement &placement_;
  std::span<const Event> order_;
  std::vector<uint32_t> rounds_, depths_; // made when they are needed
};

std::string costOf(int64_t amount, Cost cost) {
  return concat(amount, " ", unit(cost), amount == 1 ? "" : "s");
}

} // namespace

uint64_t messageBytes(const Model &model, const Placement &placement, Vertex v) {
  const Op &op = model.op(v);
  std::span<const Area> areas = sendsMessage(op.kind) ? placement.sources(v) : placement.targets(v);
  if (areas.empty())
    return isMessage(op.kind) ? op.amount : 0;
  uint64_t bytes = 0;
  for (const Area &area : areas)
    bytes += area.length();
  return bytes;
}

void checkCosts(const EventGraph &graph, const Placement &placement, std::span<const Event> order,
                Failures &failures) {
  CostCheck check(graph, placement, order);
  for (const CostBound &bound : graph.model().schedule().costs) {
    if (failures.full())
      return;
    Spent spent = check.spent(bound.rank, bound.cost);
    auto amount = static_cast<int64_t>(spent.amount);
    if (amount <= bound.most)
      continue;
    Failure failure{Proof::Contract,
                    concat("rank ", index(bound.rank), ": '", spelling(bound.cost), "' is ",
                           costOf(amount, bound.cost), ", but at most ",
                           costOf(bound.most, bound.cost), bound.most == 1 ? " was" : " were",
                           " promised"),
                    {{bound.rank, kNoOp, bound.loc,
                      concat("promises at most ", costOf(bound.most, bound.cost))}}};
    if (exists(spent.last))
      failure.steps.push_back(
          failures.step(spent.last, concat("makes it ", costOf(amount, bound.cost))));
    failures.add(std::move(failure));
  }
}

} // namespace colldsl::proof
