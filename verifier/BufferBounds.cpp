#include "verifier/Checks.h"

namespace colldsl::proof {
namespace {

class BoundsCheck {
public:
  BoundsCheck(const Model &model, const DiagnosticNames &names, Failures &failures)
      : model_(model), names_(names), failures_(failures) {}

  void check(Vertex v, std::span<const Area> areas, std::span<const Slice> slices) {
    for (size_t i = 0; i < areas.size(); ++i)
      if (areas[i].fault != Fault::None && !failures_.full())
        report(v, areas[i].fault, slices[i].buffer);
  }

private:
  void report(Vertex v, Fault fault, BufferId buffer) {
    std::string what = faultWords(fault, names_.bufferName(model_.rankOf(v), buffer));
    failures_.add(
        {Proof::Writes, names_.opOfRank(v) + " " + what, {failures_.step(v, names_.op(v))}});
  }

  const Model &model_;
  const DiagnosticNames &names_;
  Failures &failures_;
};

} // namespace

void checkBounds(const Model &model, const Placement &placement, const DiagnosticNames &names,
                 Failures &failures) {
  BoundsCheck bounds(model, names, failures);
  for (uint32_t v = 0; v < model.numVertices(); ++v) {
    const Op &op = model.op(Vertex{v});
    const Dag &dag = model.dag(model.rankOf(Vertex{v}));
    bounds.check(Vertex{v}, placement.sources(Vertex{v}), dag.sources(op));
    bounds.check(Vertex{v}, placement.targets(Vertex{v}), dag.targets(op));
  }
}

} // namespace colldsl::proof
