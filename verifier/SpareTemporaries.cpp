#include "verifier/Checks.h"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace colldsl::proof {
namespace {

/// The copies of one rank. What ops touch is sorted by buffer and byte.
class RankCopies {
public:
  RankCopies(const Model &model, const Placement &placement, Rank rank)
      : model_(model), placement_(placement), rank_(rank) {
    for (Vertex v = model.firstOf(rank); v < end(); v = next(v)) {
      add(placement.sources(v), v);
      add(placement.targets(v), v);
    }
    std::sort(touched_.begin(), touched_.end(), [](const Touched &a, const Touched &b) {
      return std::tuple(a.area.root, a.area.begin) < std::tuple(b.area.root, b.area.begin);
    });
  }

  template <typename See> void forEachSpare(See see) const {
    for (Vertex v = model_.firstOf(rank_); v < end(); v = next(v))
      if (model_.op(v).kind == OpKind::Copy && isSpare(v))
        see(v);
  }

  /// The temporaries that some op touches.
  std::set<std::string> temporaries() const {
    std::set<std::string> names;
    for (const Touched &touched : touched_)
      if (roleOf(touched.area.root) == BufferRole::Temp)
        names.insert(model_.schedule().nameOf(model_.dag(rank_).buffers[index(touched.area.root)]));
    return names;
  }

private:
  struct Touched {
    Area area;
    Vertex op;
  };

  void add(std::span<const Area> areas, Vertex v) {
    for (const Area &area : areas)
      if (!area.empty())
        touched_.push_back({area, v});
  }

  bool isSpare(Vertex v) const {
    std::span<const Area> from = placement_.sources(v), to = placement_.targets(v);
    if (from.size() != 1 || to.size() != 1 || from[0].empty())
      return false;
    Area whole = placement_.whole(rank_, from[0].root);
    bool isWhole = from[0].begin == whole.begin && from[0].end == whole.end;
    return isWhole && roleOf(from[0].root) == BufferRole::Temp &&
           roleOf(to[0].root) != BufferRole::Temp && isAlone(to[0], v);
  }

  BufferRole roleOf(BufferId buffer) const { return model_.dag(rank_).buffers[index(buffer)].role; }

  /// True if no other op touches a byte of it.
  bool isAlone(const Area &area, Vertex v) const {
    auto first = std::partition_point(touched_.begin(), touched_.end(),
                                      [&](const Touched &t) { return t.area.root < area.root; });
    for (; first != touched_.end() && first->area.root == area.root && first->area.begin < area.end;
         ++first)
      if (first->op != v && first->area.end > area.begin)
        return false;
    return true;
  }

  Vertex end() const { return model_.firstOf(Rank{index(rank_) + 1}); }
  static Vertex next(Vertex v) { return Vertex{index(v) + 1}; }

  const Model &model_;
  const Placement &placement_;
  Rank rank_;
  std::vector<Touched> touched_;
};

} // namespace

void findSpareTemporaries(const Model &model, const Placement &placement, Waste &waste) {
  std::set<std::string> needed; // temporaries that some rank cannot replace
  for (uint32_t r = 0; r < model.numRanks(); ++r) {
    Rank rank{r};
    RankCopies copies(model, placement, rank);
    std::set<std::string> others = copies.temporaries();
    copies.forEachSpare([&](Vertex v) {
      const Dag &dag = model.dag(rank);
      const std::string &name = model.schedule().nameOf(dag.bufferOf(dag.sources(model.op(v))[0]));
      others.erase(name);
      auto place = std::find_if(waste.places.begin(), waste.places.end(),
                                [&](const Waste::Place &p) { return p.loc == model.op(v).loc; });
      if (place == waste.places.end())
        return;
      ++place->spare;
      place->temporary = name;
      place->parameter = model.schedule().nameOf(dag.bufferOf(dag.targets(model.op(v))[0]));
    });
    needed.merge(others);
  }
  for (Waste::Place &place : waste.places)
    if (needed.contains(place.temporary))
      place.spare = 0;
}

} // namespace colldsl::proof
