#include "verifier/Checks.h"

#include "verifier/SizeDecisions.h"

#include <algorithm>

namespace colldsl::proof {
namespace {

/// The bytes of one rank's parameters that its contract speaks of, or gives free.
class PromisedBytes {
public:
  PromisedBytes(Rank rank, const Model &model, const Placement &placement) {
    std::vector<std::pair<Area, size_t>> found;
    for (const Ensure &ensure : model.dag(rank).contract.ensures)
      if (Area area = placement.locate(rank, ensure.target); !area.empty())
        found.emplace_back(area, found.size());
    std::stable_sort(found.begin(), found.end(), [](const auto &a, const auto &b) {
      return std::pair(a.first.root, a.first.begin) < std::pair(b.first.root, b.first.begin);
    });
    noteOrder(found, [](const auto &area) { return area.second; });
    for (const auto &[area, number] : found)
      areas_.push_back(area);
    mergeNeighbors();
  }

  /// The first byte of the area that is not promised, or the end of the area.
  uint64_t firstOutside(const Area &area) const {
    auto after = std::partition_point(areas_.begin(), areas_.end(), [&](const Area &a) {
      return std::pair(a.root, a.begin) <= std::pair(area.root, area.begin);
    });
    Decisions::note(after - areas_.begin());
    if (after == areas_.begin() || std::prev(after)->root != area.root)
      return area.begin;
    return std::clamp(std::prev(after)->end, area.begin, area.end);
  }

private:
  void mergeNeighbors() {
    size_t kept = 0;
    for (const Area &area : areas_) {
      bool joins =
          kept > 0 && areas_[kept - 1].root == area.root && areas_[kept - 1].end >= area.begin;
      Decisions::note(joins);
      if (joins && smaller(areas_[kept - 1].end, area.end) != area.end)
        areas_[kept - 1].end = area.end;
      else if (joins)
        continue;
      else
        areas_[kept++] = area;
    }
    areas_.resize(kept);
  }

  std::vector<Area> areas_; // disjoint, not adjacent, in order
};

class WriteCheck : Check {
public:
  explicit WriteCheck(const Check &check) : Check(check) {}

  void run() {
    for (uint32_t r = 0; r < model_.numRanks(); ++r) {
      PromisedBytes promised(Rank{r}, model_, placement_);
      uint32_t last = index(model_.firstOf(Rank{r + 1}));
      for (uint32_t v = index(model_.firstOf(Rank{r})); v < last && !failures_.full(); ++v)
        for (const Area &area : placement_.targets(Vertex{v}))
          check(Vertex{v}, area, promised);
    }
  }

private:
  void check(Vertex v, const Area &area, const PromisedBytes &promised) {
    Rank rank = model_.rankOf(v);
    BufferRole role = model_.dag(rank).buffers[index(area.root)].role;
    Decisions::note(area.empty());
    if (role == BufferRole::Temp || area.empty())
      return;
    bool isInput = role == BufferRole::In;
    uint64_t outside = isInput ? area.begin : promised.firstOutside(area);
    if (outside != area.end)
      failAt(Proof::Writes, v,
             " writes " + names_.bytes(rank, area.root, outside, area.end) +
                 (isInput ? ", which is an `in` parameter" : ", of which no `ensures` speaks"));
  }
};

} // namespace

void checkWriteScope(const Check &check) { WriteCheck(check).run(); }

} // namespace colldsl::proof
