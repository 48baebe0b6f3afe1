#include "verifier/Checks.h"

namespace colldsl::proof {
namespace {

class BoundsCheck : Check {
public:
  explicit BoundsCheck(const Check &check) : Check(check) {}

  void run() {
    for (uint32_t v = 0; v < model_.numVertices(); ++v) {
      const Op &op = model_.op(Vertex{v});
      const Dag &dag = model_.dag(model_.rankOf(Vertex{v}));
      check(Vertex{v}, placement_.sources(Vertex{v}), dag.sources(op));
      check(Vertex{v}, placement_.targets(Vertex{v}), dag.targets(op));
    }
  }

private:
  void check(Vertex v, std::span<const Area> areas, std::span<const Slice> slices) {
    for (size_t i = 0; i < areas.size(); ++i)
      if (Fault fault = areas[i].fault; fault != Fault::None && !failures_.full())
        failAt(Proof::Writes, v,
               " " + faultWords(fault, names_.bufferName(model_.rankOf(v), slices[i].buffer)));
  }
};

} // namespace

void checkBounds(const Check &check) { BoundsCheck(check).run(); }

} // namespace colldsl::proof
