#include "verifier/Checks.h"

#include "verifier/SizeDecisions.h"

#include <algorithm>
#include <optional>
#include <tuple>

// Sorts an op's areas and compares neighbours. Bytes that a copy leaves in place do no harm, and
// are left out of the comparison of sources with targets.

namespace colldsl::proof {
namespace {

struct Part {
  Area area;
  bool isTarget;
  size_t number;
};

void sortByPlace(std::vector<Part> &parts) {
  std::sort(parts.begin(), parts.end(), [](const Part &a, const Part &b) {
    return std::tuple(a.area.root, a.area.begin, a.area.end) <
           std::tuple(b.area.root, b.area.begin, b.area.end);
  });
}

Area cut(const Area &area, uint64_t skip, uint64_t length) {
  Area part = area;
  part.begin += skip;
  part.end = part.begin + length;
  return part;
}

class SelfConflictCheck : Check {
public:
  explicit SelfConflictCheck(const Check &check) : Check(check) {}

  void run() {
    for (uint32_t v = 0; v < model_.numVertices() && !failures_.full(); ++v)
      check(Vertex{v});
  }

private:
  void check(Vertex v) {
    auto sources = placement_.sources(v), targets = placement_.targets(v);
    if (targets.empty() || (sources.empty() && targets.size() == 1))
      return;
    parts_.clear();
    addAll(targets, true);
    if (std::optional<Area> twice = overlap(false))
      return report(v, *twice, " writes %s twice");
    parts_.clear();
    addMoved(sources, targets);
    if (std::optional<Area> shared = overlap(true))
      report(v, *shared, " reads %s and writes it at another place of its list");
  }

  void addAll(std::span<const Area> areas, bool isTarget) {
    for (const Area &area : areas)
      if (!area.empty())
        parts_.push_back({area, isTarget, parts_.size()});
  }

  /// Sources and targets, cut where either list goes on to its next slice, without the
  /// parts that stay where they are.
  void addMoved(std::span<const Area> sources, std::span<const Area> targets) {
    auto open = [](const Area &area) { return area.hasCapacity; };
    if (std::any_of(sources.begin(), sources.end(), open) ||
        std::any_of(targets.begin(), targets.end(), open)) {
      addAll(sources, false);
      addAll(targets, true);
      return;
    }
    size_t s = 0, t = 0;
    uint64_t inSource = 0, inTarget = 0;
    while (s < sources.size() && t < targets.size()) {
      uint64_t length = smaller(sources[s].length() - inSource, targets[t].length() - inTarget);
      addIfMoved(cut(sources[s], inSource, length), cut(targets[t], inTarget, length));
      inSource += length;
      inTarget += length;
      if (inSource == sources[s].length())
        ++s, inSource = 0;
      if (t < targets.size() && inTarget == targets[t].length())
        ++t, inTarget = 0;
    }
  }

  void addIfMoved(const Area &source, const Area &target) {
    bool isMoved = !source.empty() && (source.root != target.root || source.begin != target.begin);
    Decisions::note(isMoved);
    if (!isMoved)
      return;
    parts_.push_back({source, false, parts_.size()});
    parts_.push_back({target, true, parts_.size()});
  }

  /// Bytes that two parts share; if betweenKinds, a source and a target.
  std::optional<Area> overlap(bool betweenKinds) {
    sortByPlace(parts_);
    noteOrder(parts_, [](const Part &part) { return part.number; });
    const Part *furthest[2] = {nullptr, nullptr}; // source, target: those that reach furthest
    for (const Part &part : parts_) {
      const Part *other = furthest[betweenKinds ? !part.isTarget : part.isTarget];
      if (other && other->area.root == part.area.root && other->area.end > part.area.begin)
        return cut(part.area, 0, std::min(other->area.end, part.area.end) - part.area.begin);
      const Part *&mine = furthest[part.isTarget];
      bool isFurther = !mine || mine->area.root != part.area.root || mine->area.end < part.area.end;
      Decisions::note(isFurther);
      if (isFurther)
        mine = &part;
    }
    return std::nullopt;
  }

  void report(Vertex v, const Area &area, std::string what) {
    std::string where = names_.bytes(model_.rankOf(v), area.root, area.begin, area.end);
    what.replace(what.find("%s"), 2, where);
    failures_.add(
        {Proof::Races, names_.opOfRank(v) + what, {failures_.step(v, names_.op(v) + what)}});
  }

  std::vector<Part> parts_;
};

} // namespace

void checkSelfConflicts(const Check &check) { SelfConflictCheck(check).run(); }

} // namespace colldsl::proof
