#include "verifier/Checks.h"

#include "verifier/HappensBefore.h"
#include "verifier/IntervalMap.h"

#include <algorithm>

// Race check: takes the ops of a rank in the order in which they begin to touch bytes, in one
// order of happens-before, and keeps for every byte its last writer and its readers since. A
// reader must come after the last writer, a writer after the last writer and those readers. No
// other pair needs a look: between two conflicting ops lies a chain of such neighbours, at each
// writer in between, and "is done before the other begins" is transitive.
// Example: write A, read B, write C on one byte: A-B, A-C and B-C are looked at; a later
// read D is compared with C alone.
// n log n, apart from the searches that HappensBefore makes for pairs without a dep.
//
// Where the lengths of blocks are any, a pair meets on a block only if that is not empty, and the
// fewest messages travel if all blocks of other lengths are: so a pair must be ordered by the
// messages that then travel. On other bytes it meets even if all blocks are empty.

namespace colldsl::proof {
namespace {

/// Persistent singly linked lists of readers, so that intervals cut in two share theirs.
class ReaderLists {
public:
  static constexpr uint32_t kEmpty = 0xffffffffu;

  void clear() { nodes_.clear(); }
  uint32_t push(Vertex reader, uint32_t list) {
    nodes_.push_back({reader, list});
    return static_cast<uint32_t>(nodes_.size() - 1);
  }
  template <typename See> void visit(uint32_t list, See see) const {
    for (; list != kEmpty; list = nodes_[list].rest)
      see(nodes_[list].reader);
  }

private:
  struct Node {
    Vertex reader;
    uint32_t rest;
  };
  std::vector<Node> nodes_;
};

/// The last access to an interval.
struct LastAccess {
  Vertex writer = kNoVertex;
  uint32_t readers = ReaderLists::kEmpty; // since the writer
  LastAccess tail(uint64_t) const { return *this; }
};

/// Bytes that an op and an earlier one touch.
struct Meeting {
  Vertex earlier;
  BufferId root;
  uint64_t begin;
  uint64_t end;
  bool earlierWrites;
  bool laterWrites;
  LengthId length = kFixedLength; ///< of the block, if the call chooses it
};

class RaceCheck : Check {
public:
  RaceCheck(const Check &check, const EventGraph &graph, std::span<const Event> order)
      : Check(check), happensBefore_(graph, placement_, order),
        metBy_(model_.numVertices(), kNoVertex) {}

  /// `ops`: as opsByRank() gives them.
  void run(std::span<const Vertex> ops) {
    for (uint32_t r = 0; r < model_.numRanks() && !failures_.full(); ++r)
      if (const Dag &dag = model_.dag(Rank{r}); !dag.slices.empty()) // else its ops touch nothing
        checkRank(Rank{r}, ops.subspan(index(model_.firstOf(Rank{r})), dag.size()));
  }

private:
  void checkRank(Rank rank, std::span<const Vertex> ops) {
    maps_.assign(model_.dag(rank).buffers.size(), {});
    readers_.clear();
    for (Vertex v : ops) {
      if (failures_.full())
        return;
      checkOp(v);
      note(v);
    }
  }

  void checkOp(Vertex v) {
    meetings_.clear();
    unordered_.clear();
    for (const Area &area : placement_.targets(v))
      meetWriting(v, area);
    for (const Area &area : placement_.sources(v))
      meetReading(v, area);
    if (meetings_.empty())
      return;
    happensBefore_.removeOrdered(v, unordered_);
    for (Vertex earlier : unordered_)
      for (const Meeting &m : meetings_)
        if (m.earlier == earlier && !failures_.full() && !isOrderedAnyway(v, m))
          report(v, m);
  }

  /// Orders by the messages of blocks with the length of the block on which they meet.
  bool isOrderedAnyway(Vertex later, const Meeting &m) {
    std::vector<Vertex> earlier{m.earlier};
    if (m.length != kFixedLength)
      happensBefore_.removeOrdered(later, earlier, m.length);
    return earlier.empty();
  }

  void meetWriting(Vertex v, const Area &area) {
    mapOf(area).visit(area.begin, area.end,
                      [&](uint64_t begin, uint64_t end, const LastAccess *last) {
                        if (!last)
                          return;
                        meet(v, {last->writer, area.root, begin, end, true, true});
                        readers_.visit(last->readers, [&](Vertex reader) {
                          meet(v, {reader, area.root, begin, end, false, true});
                        });
                      });
  }

  void meetReading(Vertex v, const Area &area) {
    mapOf(area).visit(area.begin, area.end,
                      [&](uint64_t begin, uint64_t end, const LastAccess *last) {
                        if (last)
                          meet(v, {last->writer, area.root, begin, end, true, false});
                      });
  }

  /// Keeps one meeting with each earlier op per length of blocks.
  void meet(Vertex v, Meeting meeting) {
    if (!exists(meeting.earlier))
      return;
    bool isKnown = metBy_[index(meeting.earlier)] == v;
    if (isKnown && !model_.lengths())
      return;
    if (model_.lengths())
      meeting.length = placement_.lengthAt(model_.rankOf(v), meeting.root, meeting.begin);
    if (isKnown && hasMet(meeting))
      return;
    if (!isKnown)
      unordered_.push_back(meeting.earlier);
    metBy_[index(meeting.earlier)] = v;
    meetings_.push_back(meeting);
  }

  bool hasMet(const Meeting &meeting) const {
    return std::any_of(meetings_.begin(), meetings_.end(), [&](const Meeting &m) {
      return m.earlier == meeting.earlier && m.length == meeting.length;
    });
  }

  void note(Vertex v) {
    for (const Area &area : placement_.sources(v))
      mapOf(area).update(area.begin, area.end,
                         [&](LastAccess &last) { last.readers = readers_.push(v, last.readers); });
    for (const Area &area : placement_.targets(v))
      mapOf(area).assign(area.begin, area.end, {v, ReaderLists::kEmpty});
  }

  IntervalMap<LastAccess> &mapOf(const Area &area) { return maps_[index(area.root)]; }

  void report(Vertex later, const Meeting &m) {
    std::string where = names_.bytes(model_.rankOf(later), m.root, m.begin, m.end);
    auto touches = [&](Vertex v, bool writes) {
      return failures_.step(v, names_.op(v) + (writes ? " writes " : " reads ") + where +
                                   "; of the ops before it, it requires " + requirements(v));
    };
    failures_.add({Proof::Races,
                   names_.opOfRank(m.earlier) + " and " + names_.op(later) +
                       " touch the same bytes, " + where + ", and neither waits for the other" +
                       otherBlocks(m),
                   {touches(m.earlier, m.earlierWrites), touches(later, m.laterWrites)}});
  }

  /// The lengths at which the race happens, in words.
  const char *otherBlocks(const Meeting &m) const {
    if (!model_.lengths())
      return "";
    return m.length == kFixedLength ? " where all blocks are empty"
                                    : " where all other blocks are empty";
  }

  /// "2, 5 alone": so that the one that is missing is seen. The words are the same for any number
  /// of ops, as failures of one pattern have the same text (Alike.h).
  std::string requirements(Vertex v) const {
    std::vector<std::string> ops;
    std::span<const Dep> all = model_.dag(model_.rankOf(v)).depsOf(model_.op(v));
    std::vector<Dep> deps(all.begin(), all.end());
    std::sort(deps.begin(), deps.end(), [](const Dep &a, const Dep &b) { return a.op < b.op; });
    for (const Dep &dep : deps)
      ops.push_back((dep.kind == DepKind::IRequires ? "the start of " : "") +
                    std::to_string(index(dep.op)));
    return ops.empty() ? "none" : listed(ops) + " alone";
  }

  HappensBefore happensBefore_;
  std::vector<IntervalMap<LastAccess>> maps_; // per buffer of the rank at hand; roots are used
  ReaderLists readers_;
  std::vector<Vertex> metBy_; // per vertex: the last op that met it
  std::vector<Meeting> meetings_;
  std::vector<Vertex> unordered_; // met, and then those of them that are not ordered
};

/// Those of rank 0 first, each rank's in the order in which they begin to touch bytes: receives
/// when they and their sends have started.
std::vector<Vertex> opsByRank(const EventGraph &graph, std::span<const Event> order) {
  const Model &model = graph.model();
  std::vector<uint32_t> next(model.numRanks());
  for (uint32_t r = 0; r < model.numRanks(); ++r)
    next[r] = index(model.firstOf(Rank{r}));
  std::vector<Vertex> ops(model.numVertices());
  std::vector<bool> hasStarted(model.numVertices());
  auto begin = [&](Vertex v) { ops[next[index(model.rankOf(v))]++] = v; };
  for (Event e : order) {
    if (!isStart(e))
      continue;
    Vertex v = vertexOf(e), partner = graph.partnerOf(v);
    hasStarted[index(v)] = true;
    if (!graph.writesWhatCame(v) || hasStarted[index(partner)])
      begin(v);
    if (graph.sends(v) && exists(partner) && graph.writesWhatCame(partner) &&
        hasStarted[index(partner)])
      begin(partner);
  }
  return ops;
}

} // namespace

void checkRaces(const Check &check, const EventGraph &graph, std::span<const Event> order) {
  checkSelfConflicts(check);
  RaceCheck(check, graph, order).run(opsByRank(graph, order));
}

} // namespace colldsl::proof
