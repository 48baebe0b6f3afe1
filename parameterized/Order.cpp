#include "parameterized/Order.h"

#include <algorithm>

namespace colldsl::parameterized {
namespace {

/// In a cycle some operation waits for one that is not earlier.
constexpr const char *kCycle = "an operation may wait in a cycle, for one that is not earlier";

/// One way to give times. Times begin with the number of the outermost statement and the index of
/// its loop, unless the ranks come first.
struct Clock {
  std::optional<Term> position; ///< of `rank`: messages of ranks with a lesser one are earlier
  bool ranksFirst = false;
  bool combinesAtOnce = false; ///< a receive combines next to its message
  bool sendsEarly = false;     ///< what waits for no message is sent before all that does
};

/// An operation as the order sees it: a message, at one of its ends, or a copy or combine.
struct Node {
  size_t index;             ///< into Body::sites
  Site site;                ///< with constants of its own
  std::optional<Link> link; ///< of a receive
  bool isLocal;
  bool isEarly = false;                         ///< a send or local, and waits for no message
  std::vector<std::pair<Piece, bool>> accesses; ///< true: written
};

class OrderProof {
public:
  OrderProof(Body &body, const Messages &messages, Prover &prover, const Ranks &ranks)
      : body_(body), messages_(messages), prover_(prover), ranks_(ranks) {
    for (size_t i = 0; i < body.sites.size(); ++i)
      addNodes(i);
    findEarly(true);
    findEarly(false);
    for (size_t i = 0; i < nodes_.size(); ++i)
      for (const Node &original : nodes_) {
        Node next = second(original);
        Terms facts = conflict(nodes_[i], next);
        if (!prover.refutes(facts, mistake(next, "this may wait for an operation before it")))
          conflicts_.push_back({i, std::move(next), std::move(facts)});
      }
  }

  /// The place where an operation may wait for itself by this clock; nothing: there is none.
  std::optional<SourceLoc> refusal(const Clock &clock);

private:
  void addNodes(size_t site);
  Node second(const Node &node) const;
  Terms time(const Clock &clock, const Node &node) const;
  Terms timeOf(const Clock &clock, const Site &site, bool isLocal, bool isEarly) const;
  void findEarly(bool local);
  Terms conflict(const Node &first, const Node &next) const;
  Term isEarlier(const Terms &a, const Terms &b) const;
  Term touchSame(const Node &a, const Node &b) const;
  Terms conditions(const Node &node) const;
  static Mistake mistake(const Node &node, const char *what) { return {node.site.loc, what}; }

  Body &body_;
  const Messages &messages_;
  Prover &prover_;
  const Ranks &ranks_;
  /// Two executions of which the second comes later and waits for the first, where `facts` hold.
  struct Conflict {
    size_t first;
    Node next;
    Terms facts;
  };

  std::vector<Node> nodes_;
  std::vector<Conflict> conflicts_;
  std::set<size_t> earlySends_; ///< sites
};

void OrderProof::addNodes(size_t i) {
  const Site &site = body_.sites[i];
  auto add = [&](bool isLocal, const std::optional<Link> &link, bool reads, bool writes) {
    Node node{i, site, link, isLocal, false, {}};
    if (reads)
      for (const Piece &p : isLocal && !isRecv(site.kind) ? site.read : site.pieces)
        node.accesses.emplace_back(p, false);
    if (writes)
      for (const Piece &p : site.pieces)
        node.accesses.emplace_back(p, true);
    nodes_.push_back(std::move(node));
  };
  if (isSend(site.kind))
    return add(false, std::nullopt, true, false);
  if (!isRecv(site.kind))
    return add(true, std::nullopt, true, true);
  for (const Link &l : messages_.links())
    if (l.recv == i) {
      add(false, l, false, !site.combines);
      if (site.combines)
        add(true, l, false, true);
    }
}

/// The node with other constants, for a second execution.
Node OrderProof::second(const Node &node) const {
  Node other = node;
  other.site = messages_.renamed(node.site, "\"");
  Terms from = node.site.indices(), to = other.site.indices();
  auto rename = [&](Term &t) { t = substitute(t, from, to); };
  if (other.link) {
    for (Term &t : other.link->sendIndices)
      rename(t);
    rename(other.link->recvHolds);
  }
  for (auto &[piece, writes] : other.accesses)
    for (Term *t : {&piece.block, &piece.blocks, &piece.begin, &piece.length})
      rename(*t);
  return other;
}

Terms OrderProof::conditions(const Node &node) const {
  Terms all = node.site.condition;
  if (node.link)
    all.push_back(node.link->recvHolds);
  return all;
}

Terms OrderProof::timeOf(const Clock &clock, const Site &site, bool isLocal, bool isEarly) const {
  auto number = [&](unsigned n) { return prover_.number(n); };
  Terms program;
  for (size_t d = 0; d < site.numbers.size(); ++d) {
    program.push_back(number(site.numbers[d]));
    if (d < site.loops.size())
      program.push_back(site.loops[d].index);
  }
  if (isEarly || !clock.position) {
    program.insert(program.begin(), number(isEarly ? 0 : 1));
    return program;
  }
  // A call has one time at all ranks.
  Term step = site.kind == SiteKind::Call ? number(0)
              : isLocal                   ? 2 * *clock.position - 1
                                          : 2 * *clock.position;
  size_t at = clock.ranksFirst ? 0 : std::min<size_t>(2, program.size());
  if (!clock.ranksFirst && site.loops.empty())
    at = 1;
  if (!clock.ranksFirst && at == 1)
    program.insert(program.begin() + 1, number(0)), at = 2;
  program.insert(program.begin() + static_cast<ptrdiff_t>(at), step);
  program.insert(program.begin(), number(1));
  return program;
}

Terms OrderProof::time(const Clock &clock, const Node &node) const {
  if (!node.link || (node.isLocal && !clock.combinesAtOnce))
    return timeOf(clock, node.site, node.isLocal,
                  node.isEarly && (node.isLocal || clock.sendsEarly));
  bool isEarly = clock.sendsEarly && earlySends_.contains(node.link->send);
  Terms ofSender = timeOf(clock, body_.sites[node.link->send], false, isEarly);
  // In the coordinates of the receive, whose constants may be renamed.
  Terms names{ranks_.rank}, those{node.site.peer};
  const Site &send = body_.sites[node.link->send];
  for (size_t d = 0; d < send.loops.size(); ++d) {
    names.push_back(send.loops[d].index);
    those.push_back(node.link->sendIndices[d]);
  }
  for (Term &t : ofSender)
    t = substitute(t, names, those);
  ofSender.push_back(prover_.number(node.isLocal ? 1 : 0));
  return ofSender;
}

Term OrderProof::isEarlier(const Terms &a, const Terms &b) const {
  Term earlier = prover_.truth(false), same = prover_.truth(true);
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    earlier = earlier || (same && a[i] < b[i]);
    same = same && a[i] == b[i];
  }
  return earlier;
}

/// Both touch the position (block, element), one of them writing it.
Term OrderProof::touchSame(const Node &a, const Node &b) const {
  Terms any;
  for (const auto &[p, pWrites] : a.accesses)
    for (const auto &[q, qWrites] : b.accesses)
      if (p.buffer == q.buffer && (pWrites || qWrites)) {
        Terms both{body_.isIn(p), body_.isIn(q)};
        // A temporary is a new one whenever its statement is reached.
        const Buffer &buffer = body_.buffers()[p.buffer];
        for (unsigned d = 0; buffer.role == BufferRole::Temp && d < buffer.depth; ++d)
          both.push_back(a.site.loops[d].index == b.site.loops[d].index);
        any.push_back(conjunction(prover_, both));
      }
  return disjunction(prover_, any);
}

/// The conditions under which `next` comes after `first` and waits for it.
Terms OrderProof::conflict(const Node &first, const Node &next) const {
  Terms facts = conditions(first), more = conditions(next);
  facts.insert(facts.end(), more.begin(), more.end());
  facts.push_back(messages_.isBefore(first.site, next.site));
  Terms why{touchSame(first, next)};
  auto sends = [](const Node &n) { return isSend(n.site.kind) || n.site.kind == SiteKind::Call; };
  if (isSend(first.site.kind) && isSend(next.site.kind))
    why.push_back(first.site.peer == next.site.peer);
  else if (sends(first) && sends(next)) // a call may send to anybody
    why.push_back(prover_.truth(true));
  facts.push_back(disjunction(prover_, why));
  return facts;
}

/// Copies of what ranks have at entry wait for no message, whatever the clock says of their rank.
/// Sends come after them, as not all clocks have early sends.
void OrderProof::findEarly(bool local) {
  for (Node &node : nodes_) {
    if (node.isLocal != local || node.link || node.site.label != kNoSlot ||
        node.site.kind == SiteKind::Call)
      continue;
    Node next = second(node);
    Prover::Attempt attempt(prover_);
    node.isEarly =
        attempt.succeed(std::all_of(nodes_.begin(), nodes_.end(), [&](const Node &first) {
          return first.isEarly || &first == &node ||
                 prover_.refutes(conflict(first, next),
                                 mistake(node, "this may wait for a message"));
        }));
    if (node.isEarly && !local)
      earlySends_.insert(node.index);
  }
}

std::optional<SourceLoc> OrderProof::refusal(const Clock &clock) {
  for (const Conflict &c : conflicts_)
    if (!prover_.proves(c.facts, isEarlier(time(clock, nodes_[c.first]), time(clock, c.next)),
                        mistake(nodes_[c.first], kCycle)))
      return nodes_[c.first].site.loc;
  for (const Node &node : nodes_) {
    if (!node.isLocal || !node.link)
      continue;
    Node message = node; // for which the combine of a receive waits
    message.isLocal = false;
    if (!prover_.proves(conditions(node), isEarlier(time(clock, message), time(clock, node)),
                        mistake(node, kCycle)))
      return node.site.loc;
  }
  for (const StatedOrder &order : body_.orders)
    for (const Node &waiting : nodes_)
      for (const Node &original : nodes_) {
        // An order into a receive that combines attaches to the receive, one out of it starts at
        // the combine.
        auto labelOf = [&](const Node &n) {
          return n.site.label == kNoSlot ? ~0u
                                         : body_.evaluator().program.labels[n.site.label].name;
        };
        if (labelOf(waiting) != order.waitingName || labelOf(original) != order.awaitedName ||
            (waiting.isLocal && waiting.link) ||
            (!original.isLocal && original.site.combines && original.link))
          continue;
        Node awaited = second(original);
        // The statement that orders has constants of its own: those of its loops are the same as
        // the body's, which `waiting` uses, so they are renamed.
        Terms from, to;
        for (const Loop &l : order.loops) {
          from.push_back(l.index);
          to.push_back(prover_.constant(l.index.decl().name().str() + "'"));
        }
        auto renamed = [&](const Term &t) { return substitute(t, from, to); };
        Terms facts = conditions(waiting), more = conditions(awaited);
        facts.insert(facts.end(), more.begin(), more.end());
        for (const Term &t : order.condition)
          facts.push_back(renamed(t));
        for (size_t k = 0; k < order.waitingIndices.size(); ++k)
          facts.push_back(renamed(order.waitingIndices[k]) == waiting.site.labelIndices[k]);
        for (size_t k = 0; k < order.awaitedIndices.size(); ++k)
          facts.push_back(renamed(order.awaitedIndices[k]) == awaited.site.labelIndices[k]);
        if (!prover_.proves(facts, isEarlier(time(clock, awaited), time(clock, waiting)),
                            {order.loc, kCycle}))
          return order.loc;
      }
  return std::nullopt;
}

} // namespace

void proveOrder(Body &body, const Messages &messages, Prover &prover, const Axioms &axioms,
                const Ranks &ranks) {
  OrderProof proof(body, messages, prover, ranks);
  std::vector<Clock> clocks{{}, {{}, false, true}};
  Terms positions{ranks.rank, -ranks.rank};
  for (const Tree *tree : axioms.inverses().trees) {
    positions.push_back(tree->depth(ranks.rank));
    positions.push_back(-tree->depth(ranks.rank));
  }
  for (const Term &p : positions)
    for (bool combinesAtOnce : {false, true})
      for (bool ranksFirst : {true, false})
        clocks.push_back({p, ranksFirst, combinesAtOnce});
  std::optional<SourceLoc> where;
  bool calls = std::any_of(body.sites.begin(), body.sites.end(),
                           [](const Site &s) { return s.kind == SiteKind::Call; });
  clocks.push_back({{}, false, false, true});
  clocks.push_back({{}, false, true, true});
  for (const Clock &clock : clocks) {
    if (calls && clock.ranksFirst)
      continue;
    Prover::Attempt attempt(prover);
    std::optional<SourceLoc> refused = proof.refusal(clock);
    if (attempt.succeed(!refused))
      return;
    where = where ? where : refused;
  }
  throw NotShown(*where, "that no operation waits for itself was not shown");
}

} // namespace colldsl::parameterized
