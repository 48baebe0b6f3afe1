#include "parameterized/Messages.h"

#include <algorithm>
#include <optional>

namespace colldsl::parameterized {
namespace {

/// The constants of a site: this rank, and the indices of its loops.
Terms coordinates(const Ranks &ranks, const Site &site) {
  Terms all{ranks.rank};
  for (const Loop &l : site.loops)
    all.push_back(l.index);
  return all;
}

Terms withRank(const Term &rank, const Terms &indices) {
  Terms all{rank};
  all.insert(all.end(), indices.begin(), indices.end());
  return all;
}

} // namespace

Messages::Messages(Body &body, Prover &prover, const Axioms &axioms, const Ranks &ranks)
    : body_(body), prover_(prover), axioms_(axioms), ranks_(ranks) {
  // If peers do not tell which iteration meets which, messages of one iteration may meet, or those
  // of one and the next.
  std::optional<NotShown> first;
  auto succeeds = [&](int step, const std::vector<Search> &searches) {
    try {
      Prover::Attempt attempt(prover_);
      pair(step, searches);
      return attempt.succeed();
    } catch (const NotShown &e) {
      if (!first)
        first = e;
      return false;
    }
  };
  // Digits of places tell it; other candidates take long to refute there.
  if (hasDigits() && succeeds(0, {Search::Solved}))
    return;
  for (int step : {0, 1, -1})
    if (succeeds(step, {Search::Near, Search::Ends})) // last iterations meet what nothing else does
      return;
  throw *first;
}

/// True if a peer is at the place that a rank gets by another digit.
bool Messages::hasDigits() const {
  return std::any_of(body_.sites.begin(), body_.sites.end(),
                     [&](const Site &s) { return axioms_.hasMultiples(s.peer); });
}

void Messages::pair(int firstStep, const std::vector<Search> &searches) {
  links_.clear();
  for (Search search : searches)
    for (size_t s = 0; s < body_.sites.size(); ++s)
      for (size_t r = 0; r < body_.sites.size(); ++r)
        if (isSend(body_.sites[s].kind) && isRecv(body_.sites[r].kind) &&
            (body_.sites[s].kind == SiteKind::Signal) == (body_.sites[r].kind == SiteKind::Wait))
          addLinks(s, r, firstStep, search);
  proveComplete();
  proveOrder();
  proveLengths();
  proveLabels();
}

/// Each label is set once.
void Messages::proveLabels() {
  auto nameOf = [&](const Site &s) { return body_.evaluator().program.labels[s.label].name; };
  for (const Site &first : body_.labels)
    for (const Site &original : body_.labels) {
      if (nameOf(first) != nameOf(original) ||
          first.labelIndices.size() != original.labelIndices.size())
        continue;
      Site second = renamed(original, "\"");
      Terms facts = first.condition;
      facts.insert(facts.end(), second.condition.begin(), second.condition.end());
      for (size_t i = 0; i < first.labelIndices.size(); ++i)
        facts.push_back(first.labelIndices[i] == second.labelIndices[i]);
      facts.push_back(isBefore(first, second));
      prover_.require(facts, prover_.truth(false), {original.loc, "a label may be set twice"});
    }
}

Term Messages::atReceiver(const Link &link, const Term &ofSender) const {
  const Site &send = body_.sites[link.send], &recv = body_.sites[link.recv];
  return substitute(ofSender, coordinates(ranks_, send), withRank(recv.peer, link.sendIndices));
}

/// A formula: the other end `to`, at the peer and with these indices, exists and names this rank.
Term Messages::meets(const Site &from, const Site &to, const Terms &indices) const {
  // Placeholders for what belongs to `from`, which must not be renamed with `to`.
  Terms mine{prover_.constant("this.rank"), prover_.constant("this.tag")};
  Terms real{ranks_.rank, from.tag};
  Terms names = coordinates(ranks_, to), those = withRank(from.peer, indices);
  Terms all = to.condition;
  all.push_back(to.peer == mine[0] && to.tag == mine[1]);
  if (from.edge.has_value() != to.edge.has_value() || from.graph != to.graph ||
      from.isMulticast != to.isMulticast)
    return prover_.truth(false);
  if (from.edge) {
    mine.insert(mine.end(), {prover_.constant("this.slot"), prover_.constant("that.slot")});
    real.insert(real.end(), {from.edge->first, from.edge->second});
    all.push_back(to.edge->second == mine[2] && to.edge->first == mine[3]);
  }
  return substitute(substitute(conjunction(prover_, all), names, those), mine, real);
}

/// Indices of the loops of `to`, in the coordinates of `from`: the same iteration or the next to
/// it, the one whose peer is this rank, the first or the last.
std::vector<Terms> Messages::indexCandidates(const Site &from, const Site &to, int firstStep,
                                             Search search) {
  std::vector<Terms> all{{}};
  for (size_t d = 0; d < to.loops.size(); ++d) {
    Terms options, solved;
    Term peer = substitute(to.peer, {ranks_.rank}, {prover_.constant("that.rank")});
    for (const Term &t : axioms_.inverses().solve(prover_, peer, to.loops[d].index, ranks_.rank)) {
      Term there = substitute(t, {prover_.constant("that.rank")}, {from.peer});
      solved.push_back(there.simplify());
    }
    if (d < from.loops.size() && (search != Search::Solved || solved.empty()))
      for (int step : {firstStep, 0, 1, -1})
        if (search != Search::Solved || step == firstStep)
          options.push_back((from.loops[d].index + step).simplify());
    options.insert(options.end(), solved.begin(), solved.end());
    if (from.edge)
      options.push_back(from.edge->second);
    // The first and the last iteration.
    Term last = to.loops[d].last - 1;
    if (search != Search::Solved)
      options.push_back(substitute(to.loops[d].first, {ranks_.rank}, {from.peer}).simplify());
    if (search == Search::Ends)
      options.push_back(substitute(last, {ranks_.rank}, {from.peer}).simplify());
    for (size_t i = 0; i < options.size(); ++i)
      for (size_t k = options.size() - 1; k > i; --k)
        if (z3::eq(options[i], options[k]))
          options.erase(options.begin() + static_cast<ptrdiff_t>(k));
    constexpr size_t kMostCandidates = 512;
    if (all.size() * options.size() > kMostCandidates)
      throw NoFormula(to.loc, "messages in so many loops have no formula");
    std::vector<Terms> longer;
    for (const Terms &begun : all)
      for (const Term &o : options) {
        // An inverse may contain the indices of loops around this one.
        Terms known = begun, names;
        for (size_t k = 0; k < d; ++k)
          names.push_back(to.loops[k].index);
        known.push_back(substitute(o, names, begun));
        longer.push_back(std::move(known));
      }
    all = std::move(longer);
  }
  return all;
}

void Messages::addLinks(size_t s, size_t r, int firstStep, Search search) {
  Prover::Attempt attempt(prover_); // that links hold all messages is proved later
  // The receive has constants of its own, as both ends may stand in one loop.
  const Site &send = body_.sites[s], recv = renamed(body_.sites[r], "'");
  Terms primed = recv.indices(), own = body_.sites[r].indices();
  auto isRefuted = [&](const Site &site, const Term &condition) {
    Terms facts = site.condition;
    facts.push_back(condition);
    return prover_.refutes(facts);
  };
  // A formula: the other end of the other end is this one.
  auto returns = [&](const Site &from, const Site &to, const Terms &there, const Terms &here) {
    Terms same;
    for (size_t d = 0; d < here.size(); ++d)
      same.push_back(from.loops[d].index ==
                     substitute(here[d], coordinates(ranks_, to), withRank(from.peer, there)));
    return conjunction(prover_, same);
  };
  std::vector<Terms> backs = indexCandidates(recv, send, -firstStep, search);
  std::erase_if(backs, [&](const Terms &back) { return isRefuted(recv, meets(recv, send, back)); });
  for (const Terms &forth : indexCandidates(send, recv, firstStep, search)) {
    if (backs.empty() || isRefuted(send, meets(send, recv, forth)))
      continue;
    for (const Terms &back : backs) {
      // Neither end is in a link already.
      Terms sendIsFree, recvIsFree;
      for (const Link &l : links_) {
        if (l.send == s)
          sendIsFree.push_back(!l.sendHolds);
        if (l.recv == r)
          recvIsFree.push_back(substitute(!l.recvHolds, own, primed));
      }
      Term thisFree = conjunction(prover_, sendIsFree),
           otherFree = conjunction(prover_, recvIsFree);
      Term sendHolds = meets(send, recv, forth) && returns(send, recv, forth, back) && thisFree &&
                       substitute(otherFree, coordinates(ranks_, recv), withRank(send.peer, forth));
      if (isRefuted(send, sendHolds))
        continue;
      Term recvHolds = meets(recv, send, back) && returns(recv, send, back, forth) && otherFree &&
                       substitute(thisFree, coordinates(ranks_, send), withRank(recv.peer, back));
      Link link{
          s, r, forth, sendHolds.simplify(), {}, substitute(recvHolds, primed, own).simplify()};
      for (const Term &t : back)
        link.sendIndices.push_back(substitute(t, primed, own));
      links_.push_back(std::move(link));
    }
  }
}

void Messages::proveComplete() {
  for (size_t i = 0; i < body_.sites.size(); ++i) {
    const Site &site = body_.sites[i];
    bool sends = isSend(site.kind);
    if (!sends && !isRecv(site.kind))
      continue;
    Terms some;
    for (const Link &l : links_)
      if ((sends ? l.send : l.recv) == i)
        some.push_back(sends ? l.sendHolds : l.recvHolds);
    prover_.require(
        site.condition, disjunction(prover_, some),
        {site.loc, sends ? "a send may meet no receive" : "a receive may meet no send"});
  }
}

Site Messages::renamed(const Site &site, const std::string &suffix) const {
  Site other = site;
  Terms names = site.indices(), those;
  for (size_t d = 0; d < site.loops.size(); ++d)
    those.push_back(prover_.constant(site.loops[d].index.decl().name().str() + suffix));
  auto rename = [&](Term &t) { t = substitute(t, names, those); };
  for (size_t d = 0; d < site.loops.size(); ++d) {
    rename(other.loops[d].index);
    rename(other.loops[d].first);
    rename(other.loops[d].last);
  }
  for (Terms *list : {&other.condition, &other.labelIndices})
    for (Term &t : *list)
      rename(t);
  rename(other.peer);
  rename(other.tag);
  if (other.edge) {
    rename(other.edge->first);
    rename(other.edge->second);
  }
  for (Pieces *pieces : {&other.pieces, &other.read})
    for (Piece &p : *pieces)
      for (Term *t : {&p.block, &p.blocks, &p.begin, &p.length})
        rename(*t);
  return other;
}

Term Messages::isBefore(const Site &a, const Site &b) const {
  Term before = prover_.truth(false), same = prover_.truth(true);
  for (size_t d = 0;; ++d) {
    if (a.numbers[d] != b.numbers[d])
      return before || (same && prover_.truth(a.numbers[d] < b.numbers[d]));
    if (d >= a.loops.size() || d >= b.loops.size())
      return before;
    before = before || (same && a.loops[d].index < b.loops[d].index);
    same = same && a.loops[d].index == b.loops[d].index;
  }
}

Link Messages::renamedAtSender(const Link &link, const Site &from, const Site &to) const {
  Link other = link;
  for (Term &t : other.recvIndices)
    t = substitute(t, from.indices(), to.indices());
  other.sendHolds = substitute(other.sendHolds, from.indices(), to.indices());
  return other;
}

void Messages::proveOrder() {
  for (const Link &first : links_)
    for (const Link &second : links_) {
      const Site &send1 = body_.sites[first.send];
      Site send2 = renamed(body_.sites[second.send], "\"");
      Link other = renamedAtSender(second, body_.sites[second.send], send2);
      Terms facts = send1.condition;
      facts.insert(facts.end(), send2.condition.begin(), send2.condition.end());
      facts.insert(facts.end(), {first.sendHolds, other.sendHolds, send1.peer == send2.peer,
                                 send1.tag == send2.tag, isBefore(send1, send2)});
      if (send1.edge.has_value() != send2.edge.has_value())
        continue; // of different keys
      if (send1.edge)
        facts.push_back(send1.edge->first == send2.edge->first);
      if (prover_.refutes(facts, {send1.loc, "a message may be followed by one of its key"}))
        continue;
      Site recv1 = body_.sites[first.recv], recv2 = body_.sites[second.recv];
      for (size_t d = 0; d < recv1.loops.size(); ++d)
        recv1.loops[d].index = first.recvIndices[d];
      for (size_t d = 0; d < recv2.loops.size(); ++d)
        recv2.loops[d].index = other.recvIndices[d];
      prover_.require(facts, isBefore(recv1, recv2),
                      {send1.loc, "the receives may not have the order of the sends"});
    }
}

void Messages::proveLengths() {
  for (const Link &link : links_) {
    const Site &send = body_.sites[link.send], &recv = body_.sites[link.recv];
    if (send.pieces.size() != recv.pieces.size())
      throw NotShown(send.loc, "lists of slices of a different number do not compare here");
    Terms facts = recv.condition;
    facts.push_back(link.recvHolds);
    for (size_t i = 0; i < send.pieces.size(); ++i) {
      const Piece &from = send.pieces[i], &to = recv.pieces[i];
      if (body_.buffers()[from.buffer].type != body_.buffers()[to.buffer].type)
        throw NotShown(send.loc, "a message has different types at both ends");
      if (from.isRun != to.isRun)
        throw NotShown(send.loc, "a run of blocks and elements of one block do not compare here");
      Term alike = from.isRun ? to.blocks == atReceiver(link, from.blocks)
                              : to.length == atReceiver(link, from.length);
      if (from.isRun) {
        Term at = prover_.fresh("block");
        Term theirs = body_.buffers()[from.buffer].length(from.block + at);
        alike = alike && implies(0 <= at && at < to.blocks,
                                 body_.buffers()[to.buffer].length(to.block + at) ==
                                     atReceiver(link, theirs));
      }
      prover_.require(facts, alike, {send.loc, "a message may not be as long at both ends"});
    }
  }
}

} // namespace colldsl::parameterized
