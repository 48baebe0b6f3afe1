// Loops: a guess of what buffers hold after some iterations, proved by induction.
#include "parameterized/Body.h"

#include <algorithm>

namespace colldsl::parameterized {

void Body::executeFor(const Stmt &s) {
  const Expr &over = program_.expr(s.a);
  // The index is one constant in all runs of the body, so that what is known of messages stays.
  Term index = prover_.constant("index!" + std::to_string(statement_));
  Loop loop{index, prover_.number(0), prover_.number(0)};
  Bind bind;
  if (over.kind == ExprKind::RangeOf) {
    loop.first = evaluator_.integer(frame_, over.a);
    loop.last = evaluator_.integer(frame_, over.b);
    if (over.value)
      loop.last = loop.last + 1;
    bind = [&] { frame_.ints[s.slot] = index; };
  } else if (over.kind == ExprKind::Segments) {
    loop.last = evaluator_.segmentCount(frame_, s.a);
    bind = [&] { frame_.slices[s.slot] = evaluator_.segment(frame_, s.a, index); };
  } else if (over.kind == ExprKind::EdgesOf) {
    auto g = std::get<GraphValue>(evaluator_.evaluate(frame_, over.a));
    auto direction = static_cast<unsigned>(over.value);
    loop.last = g.graph->degree[direction](g.viewer);
    bind = [this, &s, index, g, direction] {
      frame_.ints[s.slot] = EdgeValue{g.graph, direction, g.viewer, index};
    };
  } else if (over.type == ValueType::IntList) {
    ListValue list = evaluator_.list(frame_, s.a);
    loop.last = list.length;
    bind = [this, &s, index, list] { frame_.ints[s.slot] = list.at(index); };
  } else {
    throw NoFormula(s.loc, "a loop over this has no formula yet");
  }
  iterate(s, loop, bind);
}

/// Executes the body once, at any index, from the state that is set.
void Body::executeIteration(const Stmt &s, const Loop &loop, const Bind &bind) {
  evaluator_.facts.push_back(loop.first <= loop.index && loop.index < loop.last);
  loops_.push_back(loop);
  numbers_.push_back(0);
  bind();
  execute(s.body);
  numbers_.pop_back();
  loops_.pop_back();
  evaluator_.facts.pop_back();
}

/// A formula: (block, element) lies in the buffer.
Term Body::isInBuffer(unsigned buffer) const {
  const Buffer &b = buffers()[buffer];
  return 0 <= block && block < b.blocks && 0 <= element && element < b.length(block);
}

/// Guesses what a buffer holds before iteration `loop.index`, if each position is written by one
/// iteration: the one that solves an equation of a write.
Content Body::guessPlaces(const Loop &loop, unsigned buffer, const Content &before,
                          const Content &after, const std::vector<Written> &writes) {
  Content head = before;
  for (const Written &w : writes) {
    if (w.buffer != buffer)
      continue;
    Terms candidates = axioms_.inverses().solve(prover_, w.block, loop.index, block);
    Terms byElement = axioms_.inverses().solve(prover_, w.element, loop.index, element);
    candidates.insert(candidates.end(), byElement.begin(), byElement.end());
    for (const Term &c : candidates) {
      auto there = [&](const Term &t) { return substitute(t, {loop.index}, {c}); };
      Term fits = loop.first <= c && c < loop.index && c < loop.last && there(w.where);
      head = choose(fits.simplify(), map(after, there), head);
    }
  }
  return head;
}

/// Guesses it if each iteration adds the contributions of other ranks everywhere.
Content Body::guessSum(const Loop &loop, unsigned buffer, const Content &before,
                       const std::vector<Written> &writes) {
  Content head = before;
  for (const Written &w : writes) {
    if (w.buffer != buffer || !w.combines)
      continue;
    for (const Term &c : solveContribution(w.has, loop.index)) {
      auto there = [&](const Term &t) { return substitute(t, {loop.index}, {c}); };
      Term fits =
          loop.first <= c && c < loop.index && c < loop.last && there(w.where) && there(w.has);
      head.has = head.has || fits.simplify();
      Term isNew = fits && !before.has;
      head.originBlock = z3::ite(isNew, there(w.originBlock), head.originBlock);
      head.originElement = z3::ite(isNew, there(w.originElement), head.originElement);
    }
  }
  return head;
}

/// The indices at which rank `source` contributes, by the form of the condition: those that solve
/// its equations, and its inequalities if they are to count as such.
Terms Body::solveContribution(const Term &has, const Term &index, bool atEnds) {
  Terms all, open{has};
  while (!open.empty()) {
    Term t = open.back();
    open.pop_back();
    if (!t.is_app() || !contains(t, index))
      continue;
    Z3_decl_kind kind = t.decl().decl_kind();
    bool isEnd = atEnds && (kind == Z3_OP_LE || kind == Z3_OP_GE);
    if ((t.is_eq() || isEnd) && t.arg(0).is_int())
      for (unsigned side = 0; side < 2; ++side) {
        if (!contains(t.arg(1 - side), index)) {
          Terms more = axioms_.inverses().solve(prover_, t.arg(side), index, t.arg(1 - side));
          all.insert(all.end(), more.begin(), more.end());
        }
      }
    else if (kind == Z3_OP_UNINTERPRETED)
      for (const Tree *tree : axioms_.inverses().trees)
        if (t.decl().id() == tree->isBelow.id()) {
          Terms more = axioms_.inverses().solve(prover_, t.arg(0), index, t.arg(1));
          all.insert(all.end(), more.begin(), more.end());
        }
    for (unsigned i = 0; i < t.num_args(); ++i)
      if (t.arg(i).is_bool())
        open.push_back(t.arg(i));
  }
  return all;
}

void Body::iterate(const Stmt &s, const Loop &loop, const Bind &bind) {
  std::vector<Promise> stated = statedBy(s, loop, bind);
  if (prover_.proves(evaluator_.facts, loop.last <= loop.first, {s.loc, "this loop may run"}))
    return requireStated(stated, loop, state_, prover_.truth(true));
  std::map<unsigned, Content> statedOf = contentsOf(stated);
  auto numSites = static_cast<ptrdiff_t>(sites.size());
  auto numOrders = static_cast<ptrdiff_t>(orders.size());
  auto numLabels = static_cast<ptrdiff_t>(labels.size());
  std::vector<Content> before = state_;
  std::vector<Written> writes;
  std::set<unsigned> touched;
  std::vector<std::pair<unsigned, Content>> claims;
  // A trial from the state before the loop shows what an iteration writes.
  auto attempt = [&] {
    std::vector<Written> *outerWritten = std::exchange(written_, &writes);
    std::set<unsigned> *outerTouched = std::exchange(touched_, &touched);
    bool outerTrial = std::exchange(isTrial_, true);
    size_t outerFacts = std::exchange(trialFacts_, evaluator_.facts.size() + 1);
    size_t outerDepth = std::exchange(trialDepth_, loops_.size());
    executeIteration(s, loop, bind);
    trialDepth_ = outerDepth;
    trialFacts_ = outerFacts;
    claims.clear();
    for (auto site = sites.begin() + numSites; site != sites.end(); ++site)
      if (site->kind == SiteKind::Recv && site->pieces.size() == 1) {
        Site own = *site; // what the peer sends is said to be such as this rank sends, too
        own.peer = ranks_.rank;
        claims.emplace_back(site->pieces[0].buffer, payload_(own));
      }
    isTrial_ = outerTrial;
    touched_ = outerTouched;
    written_ = outerWritten;
    sites.erase(sites.begin() + numSites, sites.end());
    orders.erase(orders.begin() + numOrders, orders.end());
    labels.erase(labels.begin() + numLabels, labels.end());
  };
  {
    Prover::Attempt first(prover_);
    attempt();
    first.succeed(data_ == Data::Unknown); // else it only leads to guesses
  }
  std::vector<Content> after = state_;
  std::vector<Written> seen = std::move(writes);
  auto said = claims;
  before.resize(after.size(), undefined());
  if (data_ == Data::Unknown) {
    for (unsigned b : touched)
      before[b] = undefined();
    for (const auto &[b, content] : statedOf)
      before[b] = content; // taken to hold, for guesses of what messages bring
    state_ = before;
    executeIteration(s, loop, bind);
    before.resize(state_.size(), undefined());
    for (const auto &[b, content] : statedOf)
      before[b] =
          map(content, [&](const Term &t) { return substitute(t, {loop.index}, {endOf(loop)}); });
    state_ = before;
    return;
  }

  std::vector<std::vector<Content>> guesses(after.size());
  for (unsigned b : touched) {
    auto isTemporary = [&](unsigned buffer) {
      return buffers()[buffer].role == BufferRole::Temp && buffers()[buffer].depth > loops_.size();
    };
    if (isTemporary(b)) {
      guesses[b] = {undefined()}; // fresh in each iteration
      continue;
    }
    Content last = choose(
        loop.index > loop.first,
        map(after[b], [&](const Term &t) { return substitute(t, {loop.index}, {loop.index - 1}); }),
        before[b]);
    Content places = guessPlaces(loop, b, before[b], after[b], seen);
    if (auto at = statedOf.find(b); at != statedOf.end()) {
      const Content &content = at->second;
      guesses[b] = {choose(content.isDefined, content, before[b]),
                    choose(content.isDefined, content, places), content};
      continue;
    }
    guesses[b] = {places, guessSum(loop, b, before[b], seen), last};
    // The first guess that is inductive counts, so the strongest come first: those that say where a
    // buffer is written.
    for (auto [buffer, content] : said) {
      if (buffer != b || content.isDefined.is_false())
        continue;
      bool isEverywhere = content.isDefined.is_true();
      content.isDefined = content.isDefined && (isEverywhere ? before[b].isDefined : isInBuffer(b));
      guesses[b].insert(isEverywhere ? guesses[b].end() : guesses[b].begin(), content);
    }
  }
  // All combinations of guesses, of which there are few: most loops write one buffer.
  std::vector<size_t> chosen(after.size(), 0);
  while (true) {
    std::vector<Content> guess = before;
    for (unsigned b : touched)
      guess[b] = guesses[b][chosen[b]];
    state_ = guess;
    Prover::Attempt induction(prover_);
    if (!isTrial_)
      tookStated_ = false;
    attempt();
    // In a trial of a loop around this one buffers hold what they do before that one's first
    // iteration, so the invariants may not hold there yet.
    bool takesStated = isTrial_ && !stated.empty();
    tookStated_ |= takesStated;
    // Loops within this one change it, too.
    const bool isProvedAgain = !isTrial_ && tookStated_;
    if (induction.succeed(takesStated ||
                          isInductive(s.loc, loop, before, guess, state_, touched))) {
      state_ = guess;
      executeIteration(s, loop, bind); // which tells the loop around this one what is written
      if (isProvedAgain && !isInductive(s.loc, loop, before, guess, state_, touched))
        throw NotShown(s.loc, "no invariant of this loop was found");
      // The guess holds before the loop if this runs, and mostly if it does not.
      bool holdsAlways = isBase(s.loc, loop, before, guess, touched, evaluator_.facts);
      Term runs = loop.first < loop.last, end = endOf(loop);
      requireStated(stated, loop, guess, holdsAlways ? prover_.truth(true) : runs);
      if (!holdsAlways)
        requireStated(stated, loop, before, !runs);
      for (size_t i = 0; i < guess.size(); ++i) {
        Content after = map(guess[i], [&](const Term &t) {
          return substitute(t, {loop.index}, {holdsAlways ? end : loop.last});
        });
        guess[i] = holdsAlways ? after : choose(runs, after, before[i]);
      }
      guess.resize(state_.size(), undefined());
      state_ = guess;
      return;
    }
    auto next = std::find_if(touched.begin(), touched.end(), [&](unsigned b) {
      return chosen[b] + 1 < guesses[b].size() || (chosen[b] = 0, false);
    });
    if (next == touched.end() && stated.empty())
      throw NotShown(s.loc, "no invariant of this loop was found");
    if (next == touched.end())
      throw NotShown(notKept(stated, loop, before, state_).loc,
                     "that this invariant holds was not shown");
    ++chosen[*next];
  }
}

/// The index behind the last iteration.
Term Body::endOf(const Loop &loop) const {
  return z3::ite(loop.first < loop.last, loop.last, loop.first);
}

bool Body::isBase(SourceLoc loc, const Loop &loop, const std::vector<Content> &before,
                  const std::vector<Content> &guess, const std::set<unsigned> &touched,
                  const Terms &facts) {
  Prover::Attempt attempt(prover_);
  return attempt.succeed(std::all_of(touched.begin(), touched.end(), [&](unsigned b) {
    Content first =
        map(guess[b], [&](const Term &t) { return substitute(t, {loop.index}, {loop.first}); });
    return prover_.proves(facts, equal(first, before[b]),
                          {loc, "the invariant of this loop may not hold before it"});
  }));
}

bool Body::isInductive(SourceLoc loc, const Loop &loop, const std::vector<Content> &before,
                       const std::vector<Content> &guess, const std::vector<Content> &after,
                       const std::set<unsigned> &touched) {
  Terms facts = evaluator_.facts;
  facts.push_back(loop.first < loop.last);
  if (!isBase(loc, loop, before, guess, touched, facts))
    return false;
  facts.back() = loop.first <= loop.index && loop.index < loop.last;
  for (unsigned b : touched) {
    Content next =
        map(guess[b], [&](const Term &t) { return substitute(t, {loop.index}, {loop.index + 1}); });
    if (!prover_.proves(facts, equal(next, after[b]),
                        {loc, "an iteration may not keep the invariant of this loop"}))
      return false;
  }
  return true;
}

} // namespace colldsl::parameterized
