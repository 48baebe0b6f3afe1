#include "parameterized/Proof.h"

#include "parameterized/Order.h"

#include <algorithm>
#include <map>

namespace colldsl {
namespace parameterized {
namespace {

/// What a receive may bring: one of these, which the proof tries.
enum class Guess : uint8_t {
  Sent,            ///< what the send has that does not depend on messages
  Promised,        ///< what the target promises here
  PromisedAtPeer,  ///< what the target promises at the sender
  BelowPeer,       ///< the contributions of the ranks below the sender in a tree
  Peer,            ///< that of the sender
};
constexpr unsigned kGuesses = 5;

/// The proof of one form.
class FormProof {
public:
  FormProof(const Program &program, DeclId collective, Form form, Prover::Clock::time_point end)
      : prover_(end, std::chrono::milliseconds(5000)), ranks_(prover_), axioms_(prover_, ranks_),
        body_(program, collective, prover_, axioms_, ranks_, form) {}

  void prove();

  std::string restrictedTo() const { return body_.restrictedTo; }
  std::vector<std::string> trees() const { return body_.assumedTrees; }
  bool isOutOfTime() const { return prover_.isOutOfTime(); }
  unsigned queries() const { return prover_.queries(); }

private:
  std::optional<Content> guess(Guess kind, const Site &recv);
  std::optional<Content> sent(const Site &recv);
  std::optional<Content> promised(const Site &recv, bool atPeer);
  std::optional<Content> contribution(const Site &recv, const Term &has);
  bool bringsWhatIsSent(const Messages &messages, SourceLoc &where);
  void provePromises();
  void proveWrites();

  Prover prover_;
  Ranks ranks_;
  Axioms axioms_;
  Body body_;
  std::optional<Messages> first_; ///< of the run without data
  std::vector<Site> firstSites_;
  std::map<std::pair<uint32_t, unsigned>, std::optional<Content>> sent_;
};

/// What the send of the matching link has, where that was known without messages.
std::optional<Content> FormProof::sent(const Site &recv) {
  for (const Link &link : first_->links()) {
    const Site &there = firstSites_[link.recv];
    if (there.statement != recv.statement || there.numbers != recv.numbers ||
        there.pieces.size() != 1)
      continue;
    const Site &send = firstSites_[link.send];
    Terms facts = there.condition;
    facts.push_back(link.recvHolds);
    facts.push_back(body_.isIn(there.pieces[0]));
    auto [fromBlock, fromElement] = body_.origin(send.pieces[0], there.pieces[0]);
    Term mapBlock = fromBlock, mapElement = fromElement;
    // Positions of the target first, then the coordinates of the receiver.
    Content content = body_.map(send.sent[0], [&](const Term &t) {
      Terms names{ranks_.rank}, those{there.peer};
      for (size_t d = 0; d < send.loops.size(); ++d) {
        names.push_back(send.loops[d].index);
        those.push_back(link.sendIndices[d]);
      }
      auto inReceiver = [&](const Term &x) { return substitute(x, names, those); };
      Term block = there.pieces[0].isRun
                       ? body_.block - there.pieces[0].block + inReceiver(send.pieces[0].block)
                       : inReceiver(send.pieces[0].block);
      Term element = there.pieces[0].isRun ? body_.element
                                           : body_.element - there.pieces[0].begin +
                                                 inReceiver(send.pieces[0].begin);
      names.push_back(body_.block);
      those.push_back(block);
      names.push_back(body_.element);
      those.push_back(element);
      return substitute(t, names, those);
    });
    if (!prover_.proves(facts, content.isDefined))
      continue;
    // The loops of this run have other constants.
    Terms from = there.indices(), to = recv.indices();
    return body_.map(content, [&](const Term &t) { return substitute(t, from, to); });
  }
  return std::nullopt;
}

std::optional<Content> FormProof::promised(const Site &recv, bool atPeer) {
  if (recv.pieces.size() != 1)
    return std::nullopt;
  const Piece &target = recv.pieces[0];
  std::optional<Content> any;
  for (const Promise &p : body_.promises()) {
    const Piece &goal = p.target.alternatives[0].pieces[0];
    bool isSame = goal.buffer == target.buffer;
    if (!isSame && !(atPeer && body_.buffers()[target.buffer].role == BufferRole::Temp))
      continue;
    Content content = body_.promised(p, p.operand.alternatives[0], 0, goal);
    Terms names, those;
    if (!p.variables.empty()) {
      // The variable of the promise by which the position is its target.
      Terms values =
          axioms_.inverses().solve(prover_, goal.block, p.variables[0], body_.block);
      if (values.empty())
        continue;
      names.push_back(p.variables[0]);
      those.push_back(values[0]);
    }
    if (atPeer) {
      names.push_back(ranks_.rank);
      those.push_back(recv.peer);
    }
    return body_.map(content, [&](const Term &t) { return substitute(t, names, those); });
  }
  return any;
}

/// The contributions of some ranks to what a promise of a reduction states.
std::optional<Content> FormProof::contribution(const Site &recv, const Term &has) {
  for (const Promise &p : body_.promises()) {
    const Piece &goal = p.target.alternatives[0].pieces[0];
    Content content = body_.promised(p, p.operand.alternatives[0], 0, goal);
    content.has = has;
    return content;
  }
  return std::nullopt;
}

std::optional<Content> FormProof::guess(Guess kind, const Site &recv) {
  switch (kind) {
  case Guess::Sent:
    return sent(recv);
  case Guess::Promised:
    return promised(recv, false);
  case Guess::PromisedAtPeer:
    return promised(recv, true);
  case Guess::BelowPeer:
    for (const Tree *tree : axioms_.inverses().trees)
      return contribution(recv, tree->isBelow(recv.peer, body_.source));
    return std::nullopt;
  case Guess::Peer:
    return contribution(recv, body_.source == recv.peer);
  }
  return std::nullopt;
}

bool FormProof::bringsWhatIsSent(const Messages &messages, SourceLoc &where) {
  for (const Link &link : messages.links()) {
    const Site &send = body_.sites[link.send], &recv = body_.sites[link.recv];
    for (size_t i = 0; i < recv.pieces.size(); ++i) {
      Terms facts = recv.condition;
      facts.push_back(link.recvHolds);
      facts.push_back(body_.isIn(recv.pieces[i]));
      Terms names{ranks_.rank}, those{recv.peer};
      for (size_t d = 0; d < send.loops.size(); ++d) {
        names.push_back(send.loops[d].index);
        those.push_back(link.sendIndices[d]);
      }
      auto inReceiver = [&](const Term &t) { return substitute(t, names, those); };
      const Piece &to = recv.pieces[i];
      Term block = inReceiver(send.pieces[i].block), element = body_.element;
      if (to.isRun)
        block = body_.block - to.block + block;
      else
        element = body_.element - to.begin + inReceiver(send.pieces[i].begin);
      names.insert(names.end(), {body_.block, body_.element});
      those.insert(those.end(), {block, element});
      Content there = body_.map(send.sent[i], inReceiver);
      if (!prover_.proves(facts, body_.equal(recv.content, there))) {
        where = send.loc;
        return false;
      }
    }
  }
  return true;
}

void FormProof::provePromises() {
  for (const Promise &p : body_.promises())
    for (const SliceValue::Alternative &target : p.target.alternatives)
      for (const SliceValue::Alternative &operand : p.operand.alternatives)
        for (size_t i = 0; i < target.pieces.size(); ++i) {
          const Piece &goal = target.pieces[i];
          Terms facts{ranks_.isRank(ranks_.rank), target.condition, operand.condition,
                      body_.isIn(goal)};
          facts.insert(facts.end(), p.condition.begin(), p.condition.end());
          Content wanted = body_.promised(p, operand, i, goal);
          if (!prover_.proves(facts, body_.equal(wanted, body_.exits[goal.buffer])))
            throw NotShown(p.loc, "that this promise holds was not shown");
        }
}

/// What callers see is written where a promise is about it, and nowhere else.
void FormProof::proveWrites() {
  for (const Site &site : body_.sites) {
    if (isSend(site.kind))
      continue;
    for (const Piece &target : site.pieces) {
      if (body_.buffers()[target.buffer].role == BufferRole::Temp)
        continue;
      Terms some;
      for (const Promise &p : body_.promises())
        for (const SliceValue::Alternative &a : p.target.alternatives)
          for (const Piece &goal : a.pieces) {
            if (goal.buffer != target.buffer)
              continue;
            Term in = conjunction(prover_, p.condition) && a.condition && body_.isIn(goal);
            if (p.variables.empty())
              some.push_back(in);
            else
              for (const Term &v : axioms_.inverses().solve(prover_, goal.block, p.variables[0],
                                                            body_.block))
                some.push_back(substitute(in, {p.variables[0]}, {v}));
          }
      Terms facts = site.condition;
      facts.push_back(body_.isIn(target));
      if (!body_.promises().empty() && !prover_.proves(facts, disjunction(prover_, some)))
        throw NotShown(site.loc, "bytes may be written about which nothing is promised");
    }
  }
}

void FormProof::prove() {
  if (prover_.refutes({ranks_.isRank(ranks_.rank)}))
    throw NotShown({}, "'where' allows no number of ranks");
  // Messages do not depend on data, so they are known before it.
  body_.run([&](const Site &) { return body_.undefined(); }, Body::Data::Unknown);
  first_.emplace(body_, prover_, axioms_, ranks_);
  firstSites_ = body_.sites;
  proveOrder(body_, *first_, prover_, axioms_, ranks_);

  std::vector<uint32_t> receives;
  for (const Site &site : body_.sites)
    if (site.kind == SiteKind::Recv &&
        std::find(receives.begin(), receives.end(), site.statement) == receives.end())
      receives.push_back(site.statement);
  std::vector<unsigned> chosen(receives.size(), 0);
  NotShown last({}, "what messages bring was not found");
  while (!prover_.isOutOfTime()) {
    bool hasGuesses = true;
    try {
      body_.run(
          [&](const Site &recv) {
            size_t i = static_cast<size_t>(
                std::find(receives.begin(), receives.end(), recv.statement) - receives.begin());
            std::optional<Content> content = guess(static_cast<Guess>(chosen[i]), recv);
            if (!content) {
              hasGuesses = false;
              throw NotShown(recv.loc, "what this message brings was not found");
            }
            return *content;
          },
          Body::Data::Known);
      Messages messages(body_, prover_, axioms_, ranks_);
      SourceLoc where;
      if (!bringsWhatIsSent(messages, where))
        throw NotShown(where, "what this message carries was not shown");
      provePromises();
      proveWrites();
      return;
    } catch (const NotShown &e) {
      if (hasGuesses)
        last = e;
    }
    size_t i = 0;
    while (i < chosen.size() && ++chosen[i] == kGuesses)
      chosen[i++] = 0;
    if (i == chosen.size())
      throw last;
  }
  throw last;
}

} // namespace
} // namespace parameterized

AllRanksProof proveForAllRanks(const Program &program, DeclId collective,
                               std::chrono::milliseconds limit) {
  using namespace parameterized;
  Prover::Clock::time_point begin = Prover::Clock::now(), end = begin + limit;
  AllRanksProof proof;
  const Decl &decl = program.decl(collective);
  std::vector<Form> forms{std::nullopt};
  for (size_t i = 0; i < decl.aliases.size(); ++i)
    forms.push_back(i);
  bool isLate = false;
  try {
    for (const Form &form : forms) {
      FormProof one(program, collective, form, end);
      struct Count {
        FormProof &one;
        AllRanksProof &proof;
        bool &isLate;
        ~Count() {
          proof.queries += one.queries();
          isLate = one.isOutOfTime();
        }
      } count{one, proof, isLate};
      one.prove();
      proof.restrictedTo = one.restrictedTo();
      proof.trees = one.trees();
    }
    proof.isProved = true;
  } catch (const NotShown &e) {
    proof.reason = e.what();
    proof.loc = e.loc;
  } catch (const z3::exception &e) {
    proof.reason = std::string("z3: ") + e.msg();
  }
  if (!proof.isProved && isLate)
    proof.reason = "not shown within " + std::to_string(limit.count() / 1000) + " s";
  proof.seconds = std::chrono::duration<double>(Prover::Clock::now() - begin).count();
  return proof;
}

} // namespace colldsl
