#include "show/OpTable.h"

#include "verifier/Checks.h"
#include "verifier/MessageDepths.h"
#include "verifier/PortRounds.h"

#include <algorithm>
#include <map>

namespace colldsl::show {
namespace {

using namespace proof;

uint32_t largest(const std::vector<uint32_t> &numbers) {
  return numbers.empty() ? 0 : *std::max_element(numbers.begin(), numbers.end());
}

/// A table of places in the sources, each once.
class Places {
public:
  uint32_t at(const SourceLoc &loc) {
    auto [it, isNew] =
        numbers_.try_emplace({loc.file, loc.line, loc.column}, static_cast<uint32_t>(all_.size()));
    if (isNew)
      all_.push_back(loc);
    return it->second;
  }

  std::vector<SourceLoc> take() { return std::move(all_); }

private:
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t> numbers_;
  std::vector<SourceLoc> all_;
};

} // namespace

uint32_t OpTable::rankOf(uint32_t op) const {
  return static_cast<uint32_t>(std::upper_bound(first.begin(), first.end(), op) - first.begin() -
                               1);
}

bool OpTable::hasProcessors() const {
  for (const Dag &dag : schedule->ranks)
    for (const Op &op : dag.ops)
      if (op.cpu != 0)
        return true;
  return false;
}

OpTable makeOpTable(const Schedule &schedule, const std::vector<Sizes> &sizes) {
  Model model(schedule, sizes);
  Placement placement(model);
  DiagnosticNames names(model, placement);
  Failures failures(model, UINT32_MAX); // matching goes on behind them
  OpTable table;
  table.schedule = &schedule;
  for (uint32_t r = 0; r <= model.numRanks(); ++r)
    table.first.push_back(index(model.firstOf(Rank{r})));
  Messages messages = matchMessages(model, placement, names, failures);
  table.partner.assign(table.size(), kNoIndex);
  for (uint32_t op = 0; op < table.size(); ++op) {
    Vertex v{op};
    if (Vertex other = messages.partnerOf(v); exists(other))
      table.partner[op] = index(other);
    table.bytes.push_back(messageBytes(model, placement, v));
    if (sendsMessage(model.op(v).kind)) {
      ++table.messages;
      table.volume += table.bytes.back();
    }
  }
  constexpr uint32_t kAnyChannel = 0;
  EventGraph graph(model, messages, kAnyChannel);
  PagedArray<Event> order = topologicalOrder(graph, Rules::HappensBefore);
  table.isCyclic = order.size() < graph.numEvents();
  table.round = messageDepths(graph, order);
  table.rounds = largest(table.round);
  if (topologicalOrder(graph, Rules::SynchronousSends).size() == graph.numEvents())
    table.portRounds = largest(portRounds(graph));
  return table;
}

std::vector<SourceLoc> addOps(const OpTable &table, const std::string &prefix, Columns &columns) {
  std::vector<uint8_t> kind, depKind, cpu;
  std::vector<uint32_t> peer, place, depEnd, dep;
  Places places;
  for (uint32_t r = 0; r < table.numRanks(); ++r) {
    const Dag &dag = table.schedule->ranks[r];
    for (uint32_t i = 0; i < dag.size(); ++i) {
      const Op &op = dag.ops[i];
      kind.push_back(static_cast<uint8_t>(op.kind));
      cpu.push_back(op.cpu);
      peer.push_back(index(op.peer));
      place.push_back(places.at(op.loc));
      for (const Dep &d : dag.depsOf(op)) {
        dep.push_back(i - index(d.op));
        depKind.push_back(static_cast<uint8_t>(d.kind));
      }
      depEnd.push_back(static_cast<uint32_t>(dep.size()));
    }
  }
  columns.addSteps(prefix + "first", table.first);
  columns.add(prefix + "kind", kind);
  if (table.hasProcessors())
    columns.add(prefix + "cpu", cpu);
  columns.addSteps(prefix + "peer", peer);
  columns.addSteps(prefix + "place", place);
  columns.addSteps(prefix + "depEnd", depEnd);
  columns.add(prefix + "depBack", dep);
  columns.add(prefix + "depKind", depKind);
  columns.addSteps(prefix + "partner", table.partner);
  columns.addSteps(prefix + "round", table.round);
  columns.add(prefix + "bytes", table.bytes);
  return places.take();
}

} // namespace colldsl::show
