#include "verifier/Matching.h"

#include "verifier/Checks.h"
#include "verifier/EmptyMessages.h"
#include "verifier/SizeDecisions.h"

#include <algorithm>
#include <tuple>

// Pairs the ends of messages by sorting them by (from, to, id): the two ends of a
// message become neighbours, and a group that is not a pair of one send and one receive
// is a counterexample. The ends are counted and put beside each other by `from`, so that
// n log m steps are enough, where m is the number of ends with the same sender.

namespace colldsl::proof {
namespace {

struct End {
  Rank from;
  Rank to;
  MessageId id;
  Vertex vertex;
  bool sends;
  const Op *op;

  auto channel() const { return std::tuple(from, to); }
  auto key() const { return std::tuple(from, to, id); }
};

class Matcher : Check {
public:
  Matcher(const Model &model, const Placement &placement, const DiagnosticNames &names,
          Failures &failures)
      : Check(model, placement, names, failures) {
    const Schedule &schedule = model.schedule();
    auto isBare = [](const Dag &dag) { return dag.buffers.empty(); };
    isPlainGoal_ =
        !schedule.hasContract && std::all_of(schedule.ranks.begin(), schedule.ranks.end(), isBare);
    messages_.partner.grow(model.numVertices());
    std::fill(messages_.partner.begin(), messages_.partner.end(), kNoVertex);
  }

  Messages run() {
    std::vector<uint32_t> endsOf(model_.numRanks() + 1, 0); // by sender: numbers, then begins
    forEachOp([&](Vertex v, const Op &op) {
      if (visit(v, op))
        ++endsOf[index(senderOf(v, op)) + 1];
    });
    for (uint32_t r = 0; r < model_.numRanks(); ++r)
      endsOf[r + 1] += endsOf[r];
    ends_.grow(endsOf.back());
    std::vector<uint32_t> next(endsOf.begin(), endsOf.end() - 1);
    forEachOp([&](Vertex v, const Op &op) {
      if (isMessage(op.kind) && index(op.peer) < model_.numRanks())
        ends_[next[index(senderOf(v, op))]++] = endOf(v, op);
    });
    for (uint32_t r = 0; r < model_.numRanks(); ++r)
      std::sort(ends_.begin() + endsOf[r], ends_.begin() + endsOf[r + 1],
                [](const End &a, const End &b) {
                  return std::tuple(a.key(), !a.sends, a.vertex) <
                         std::tuple(b.key(), !b.sends, b.vertex);
                });
    for (size_t i = 0; i < ends_.size() && !failures_.full();)
      i = matchGroup(i);
    return std::move(messages_);
  }

private:
  template <typename See> void forEachOp(See see) const {
    for (uint32_t r = 0; r < model_.numRanks(); ++r) {
      const Dag &dag = model_.dag(Rank{r});
      for (uint32_t i = 0; i < dag.size(); ++i)
        see(model_.vertex(Rank{r}, OpId{i}), dag.ops[i]);
    }
  }

  /// True if the op is an end of a message and its peer exists; reports a peer that does not.
  /// Checks the sizes of copies and combines.
  bool visit(Vertex v, const Op &op) {
    if (op.kind == OpKind::Copy || op.kind == OpKind::Combine)
      checkLocalSizes(v);
    if (!isMessage(op.kind))
      return false;
    if (index(op.peer) < model_.numRanks())
      return true;
    reportPeer(v);
    return false;
  }

  Rank senderOf(Vertex v, const Op &op) const {
    return sendsMessage(op.kind) ? model_.rankOf(v) : op.peer;
  }

  End endOf(Vertex v, const Op &op) const {
    bool sends = sendsMessage(op.kind);
    return {senderOf(v, op), sends ? op.peer : model_.rankOf(v), op.message, v, sends, &op};
  }

  /// Takes the ends with the key of the one at `first`; returns where the next ones begin.
  size_t matchGroup(size_t first) {
    size_t last = first;
    while (last < ends_.size() && ends_[last].key() == ends_[first].key())
      ++last;
    bool isPair = last - first == 2 && ends_[first].sends && !ends_[first + 1].sends;
    if (isPair)
      matchPair(ends_[first], ends_[first + 1]);
    else if (last - first == 1)
      reportAlone(first);
    else
      reportExtraEnds(first, last);
    return last;
  }

  void matchPair(const End &sends, const End &receives) {
    ++messages_.count;
    Vertex send = sends.vertex, recv = receives.vertex;
    bool bare = sends.op->kind == OpKind::Signal;
    if (bare != (receives.op->kind == OpKind::Wait))
      return reportKinds(send, recv);
    for (const End *end : {&sends, &receives})
      if (const char *wrong = end->op->transfer.wrongOn(end->op->kind))
        return add(names_.opOfRank(end->vertex) + ": " + wrong, {end->vertex});
    if (!sends.op->transfer.agrees(receives.op->transfer))
      return reportTransfers(send, recv);
    bool hasSlices = sends.op->sourceCount + receives.op->targetCount != 0;
    if (hasSlices && !sameForm(send, recv))
      return reportForms(send, recv);
    bool dynamic = hasSlices && hasCapacity(placement_.sources(send));
    if (!bare && !dynamic && sizeOf(send) != sizeOf(recv))
      return reportSizes(send, recv);
    bool travels = bare || dynamic || sizeOf(send) > 0 || isPlainGoal_;
    Decisions::note(travels);
    if (travels && hasSlices)
      Decisions::note(proof::travels(model_, placement_, send, kFixedLength));
    if (travels) {
      messages_.partner[index(send)] = recv;
      messages_.partner[index(recv)] = send;
    }
  }

  /// Lengths of blocks travel between as many slices, so that both sides know whether there is
  /// a message if it is empty, and whether lengths precede the data.
  bool sameForm(Vertex send, Vertex recv) const {
    auto sources = placement_.sources(send), targets = placement_.targets(recv);
    bool dynamic = hasCapacity(sources);
    return dynamic == hasCapacity(targets) && (!dynamic || sources.size() == targets.size());
  }

  static bool hasCapacity(std::span<const Area> areas) {
    return std::any_of(areas.begin(), areas.end(), [](const Area &a) { return a.hasCapacity; });
  }

  static uint64_t total(std::span<const Area> areas) {
    uint64_t sum = 0;
    for (const Area &area : areas)
      sum += area.length();
    return sum;
  }

  uint64_t sizeOf(Vertex v) const {
    bool sends = sendsMessage(model_.op(v).kind);
    auto areas = sends ? placement_.sources(v) : placement_.targets(v);
    return areas.empty() ? model_.op(v).amount : total(areas);
  }

  void checkLocalSizes(Vertex v) {
    auto sources = placement_.sources(v);
    auto targets = placement_.targets(v);
    if (hasCapacity(sources) || hasCapacity(targets))
      return;
    uint64_t from = total(sources), to = total(targets);
    if (from != to)
      add(names_.opOfRank(v) + " takes " + counted(from, "byte") + " to " + counted(to, "byte"),
          {v});
    else if (model_.op(v).kind == OpKind::Combine && to % sizeBytes(model_.op(v).type) != 0)
      add(names_.opOfRank(v) + " touches " + counted(to, "byte") +
              ", which are no whole number of elements",
          {v});
  }

  void reportPeer(Vertex v) {
    add(names_.opOfRank(v) + " names rank " + peerWord(model_.op(v).peer) + ", but there are " +
            counted(model_.numRanks(), "rank"),
        {v});
  }

  void reportKinds(Vertex send, Vertex recv) {
    add(names_.opOfRank(send) + " meets " + names_.opOfRank(recv) +
            ": a signal meets a wait, a send a receive",
        {send, recv});
  }

  void reportTransfers(Vertex send, Vertex recv) {
    add(names_.opOfRank(send) + " meets " + names_.opOfRank(recv) +
            ", but they do not agree on how the message travels",
        {send, recv});
  }

  void reportForms(Vertex send, Vertex recv) {
    auto lengths = [](std::span<const Area> areas, const char *what) {
      return hasCapacity(areas) ? "the lengths of " + counted(areas.size(), what) : "no lengths";
    };
    add(names_.opOfRank(send) + " sends " + lengths(placement_.sources(send), "block") + ", but " +
            names_.opOfRank(recv) + " takes " + lengths(placement_.targets(recv), "block"),
        {send, recv});
  }

  void reportSizes(Vertex send, Vertex recv) {
    add(names_.opOfRank(send) + " sends " + counted(sizeOf(send), "byte") + ", but " +
            names_.opOfRank(recv) + " receives " + counted(sizeOf(recv), "byte"),
        {send, recv});
  }

  void reportAlone(size_t at) {
    const End &end = ends_[at];
    const char *missing = end.sends ? "receive" : "send";
    std::string message = names_.opOfRank(end.vertex) + " has no matching " + missing + " on " +
                          rankWord(end.sends ? end.to : end.from);
    std::vector<Vertex> places{end.vertex};
    if (Vertex other = lonelyPartner(at); exists(other)) {
      message += "; " + names_.opOfRank(other) + " is alone too: " + whatDiffers(end.vertex, other);
      places.push_back(other);
    }
    add(std::move(message), places);
  }

  /// Tags of the language are hashed, together with the call and the edge; those of GOAL are not.
  std::string whatDiffers(Vertex mine, Vertex other) const {
    if (!isPlainGoal_)
      return "it has another tag, or is of another call or edge";
    return "it has tag " + std::to_string(tagOf(model_.op(other).message)) + ", not " +
           std::to_string(tagOf(model_.op(mine).message));
  }

  /// Finds an unmatched end of the other direction in the same channel: perhaps the one that the
  /// author meant.
  Vertex lonelyPartner(size_t at) const {
    auto same = [&](size_t i) {
      return i < ends_.size() && ends_[i].channel() == ends_[at].channel();
    };
    for (size_t i = at + 1; same(i); ++i) {
      bool paired = ends_[i].key() == ends_[i - 1].key() ||
                    (same(i + 1) && ends_[i].key() == ends_[i + 1].key());
      if (!paired && ends_[i].sends != ends_[at].sends)
        return ends_[i].vertex;
    }
    return kNoVertex;
  }

  void reportExtraEnds(size_t first, size_t last) {
    std::vector<Vertex> places;
    size_t sends = 0;
    for (size_t i = first; i < last; ++i) {
      places.push_back(ends_[i].vertex);
      sends += ends_[i].sends;
    }
    add("a message from " + rankWord(ends_[first].from) + " to " + rankWord(ends_[first].to) +
            " has " + counted(sends, "sending end") + " and " +
            counted(last - first - sends, "receiving end"),
        places);
  }

  void add(std::string message, const std::vector<Vertex> &places) {
    Failure failure{Proof::Matching, std::move(message), {}};
    for (size_t i = 0; i < places.size() && i < 8; ++i)
      failure.steps.push_back(failures_.step(places[i], names_.op(places[i])));
    failures_.add(std::move(failure));
  }

  /// Neither contract nor buffers. GOAL has no rule that empty messages are left out; to assume
  /// that they travel only adds to what must be free of deadlocks.
  bool isPlainGoal_ = false;
  PagedArray<End> ends_;
  Messages messages_;
};

} // namespace

Messages matchMessages(const Model &model, const Placement &placement, const DiagnosticNames &names,
                       Failures &failures) {
  return Matcher(model, placement, names, failures).run();
}

} // namespace colldsl::proof
