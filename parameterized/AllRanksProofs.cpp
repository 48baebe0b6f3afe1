#include "parameterized/AllRanksProofs.h"

#include "ir/Printable.h"
#include "parameterized/Order.h"
#include "parameterized/SmtLib.h"
#include "parameterized/Synchronization.h"

#include <algorithm>
#include <map>

namespace colldsl::parameterized {
namespace {

constexpr const char *kNoMemory = "not shown within the memory of the solver";

/// A guess of what a receive brings; the proof tries them.
enum class Guess : uint8_t {
  Sent,           ///< what the send has that does not depend on messages
  Promised,       ///< what the target promises here
  PromisedBlock,  ///< that, of the blocks of places that agree with the sender's beyond some bits
  PromisedAtPeer, ///< what the target promises at the sender
  BelowPeer,      ///< the contributions of the ranks below the sender in a tree
  UpToPeer,       ///< those of the sender and all lower ranks
  LastToPeer,     ///< those of the sender and of as many ranks before it as iterations have passed
  DoublingToPeer, ///< those of the sender and of ranks before it, as many as double each iteration
  BlockOfPeer,    ///< those of the places that agree with the sender's beyond as many bits
  HalvesOfPeer,   ///< those of the places that agree with the sender's in the bits that are left
  Peer,           ///< that of the sender
};

/// In the order in which they are tried: of receives, and of those that combine.
constexpr Guess kGuesses[] = {
    Guess::Promised,    Guess::Sent,         Guess::PromisedBlock, Guess::PromisedAtPeer,
    Guess::BelowPeer,   Guess::LastToPeer,   Guess::UpToPeer,      Guess::DoublingToPeer,
    Guess::BlockOfPeer, Guess::HalvesOfPeer, Guess::Peer};
constexpr Guess kCombinedGuesses[] = {
    Guess::BelowPeer, Guess::PromisedAtPeer, Guess::Sent,        Guess::LastToPeer,
    Guess::UpToPeer,  Guess::DoublingToPeer, Guess::BlockOfPeer, Guess::HalvesOfPeer,
    Guess::Peer,      Guess::Promised};

/// The proof of one form.
class FormProof {
public:
  FormProof(const Program &program, DeclId collective, Form form, Prover::Clock::time_point end,
            Body::Callee callee, bool commutes, bool isRecorded)
      : program_(program), form_(form), collective_(collective),
        prover_(end, std::chrono::milliseconds(5000), isRecorded), ranks_(prover_),
        axioms_(prover_, ranks_),
        body_(program, collective, prover_, axioms_, ranks_, form, std::move(callee)) {
    for (const Term &c : body_.commutes)
      if (commutes)
        prover_.assume(c);
  }

  void prove();

  std::string restrictedTo() const { return body_.restrictedTo; }
  std::set<std::string> &structures() { return body_.evaluator().structures; }
  const std::set<Heard> &heard() const { return heard_; }
  unsigned queries() const { return prover_.queries(); }
  void addSteps(std::vector<ProofStep> &steps) const;

private:
  std::optional<Content> guess(Guess kind, const Site &recv);
  std::optional<Content> sent(const Site &recv);
  std::optional<Content> promised(const Site &recv, bool atPeer);
  std::optional<Content> contribution(const Term &has);
  Term place(const Term &rank);
  Content atReceiver(const Link &link, const Content &sent, const Site &send, const Site &recv,
                     size_t piece);
  void proveSynchronization();
  void proveData();
  void provePromises();
  void provePromisedLength(const Promise &promise, const SliceValue::Alternative &operand,
                           const Piece &goal, const Piece &from, Terms facts);
  void proveWrites();

  const Program &program_;
  const Form form_;
  const DeclId collective_;
  Prover prover_;
  Ranks ranks_;
  Axioms axioms_;
  Body body_;
  std::optional<Messages> messages_;
  std::vector<Site> dataless_; ///< the sites of the run without data
  std::set<Heard> heard_;
};

/// A buffer of the sender, at the positions of the receiver's slice that the message moves to.
Content FormProof::atReceiver(const Link &link, const Content &sent, const Site &send,
                              const Site &recv, size_t piece) {
  Terms names{ranks_.rank}, those{recv.peer};
  for (size_t d = 0; d < send.loops.size(); ++d) {
    names.push_back(send.loops[d].index);
    those.push_back(link.sendIndices[d]);
  }
  const Piece &to = recv.pieces[piece];
  Piece from = send.pieces[piece];
  for (Term *t : {&from.block, &from.blocks, &from.begin, &from.length})
    *t = substitute(*t, names, those);
  auto [fromBlock, fromElement] = body_.origin(from, to);
  names.insert(names.end(), {body_.block, body_.element});
  those.insert(those.end(), {fromBlock, fromElement});
  return body_.map(sent, [&](const Term &t) { return substitute(t, names, those); });
}

/// The content that the send of a receive has, if it is known without messages.
std::optional<Content> FormProof::sent(const Site &recv) {
  for (const Link &link : messages_->links()) {
    const Site &there = dataless_[link.recv], &send = dataless_[link.send];
    if (there.numbers != recv.numbers || there.pieces.size() != 1)
      continue;
    Terms facts = there.condition;
    facts.insert(facts.end(), {link.recvHolds, body_.isIn(there.pieces[0])});
    Content content = atReceiver(link, send.sent[0], send, there, 0);
    Prover::Attempt search(prover_);
    if (prover_.proves(facts, content.isDefined))
      return content;
  }
  return std::nullopt;
}

std::optional<Content> FormProof::promised(const Site &recv, bool atPeer) {
  const Piece &target = recv.pieces[0];
  if (std::any_of(recv.pieces.begin(), recv.pieces.end(),
                  [&](const Piece &p) { return p.buffer != target.buffer; }))
    return std::nullopt;
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
      Terms values = axioms_.inverses().solve(prover_, goal.block, p.variables[0], body_.block);
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
std::optional<Content> FormProof::contribution(const Term &has) {
  for (const Promise &p : body_.promises())
    if (p.isReduction) {
      const Piece &goal = p.target.alternatives[0].pieces[0];
      Content content = body_.promised(p, p.operand.alternatives[0], 0, goal);
      content.has = has;
      return content;
    }
  return std::nullopt;
}

/// The place of a rank where the ranks beyond a power of two fold in pairs, the first ones first.
Term FormProof::place(const Term &rank) {
  Term rest = ranks_.ranks - axioms_.powerOfTwoUpTo(ranks_.ranks);
  return z3::ite(rank < 2 * rest, rank / 2, rank - rest);
}

std::optional<Content> FormProof::guess(Guess kind, const Site &recv) {
  switch (kind) {
  case Guess::Sent:
    return sent(recv);
  case Guess::Promised:
    return promised(recv, false);
  case Guess::PromisedBlock: {
    std::optional<Content> content = promised(recv, false);
    if (content && !recv.loops.empty()) {
      const Term &index = recv.loops.back().index;
      content->isDefined = axioms_.shiftedRight({}, place(body_.block), index) ==
                           axioms_.shiftedRight({}, place(recv.peer), index);
    }
    return content;
  }
  case Guess::PromisedAtPeer:
    return promised(recv, true);
  case Guess::BelowPeer:
    // The tree that the body uses is the last one: defaults make some before it.
    if (!axioms_.inverses().trees.empty())
      return contribution(axioms_.inverses().trees.back()->isBelow(recv.peer, body_.source));
    return std::nullopt;
  case Guess::UpToPeer:
    return contribution(0 <= body_.source && body_.source <= recv.peer);
  case Guess::LastToPeer: {
    if (recv.loops.empty())
      return std::nullopt;
    Term steps = recv.loops.back().index - recv.loops.back().first;
    Term behind = z3::ite(recv.peer >= body_.source, recv.peer - body_.source,
                          recv.peer - body_.source + ranks_.ranks);
    return contribution(ranks_.isRank(body_.source) && behind <= steps);
  }
  case Guess::DoublingToPeer: {
    if (recv.loops.empty())
      return std::nullopt;
    Term behind = recv.peer - body_.source;
    return contribution(0 <= body_.source && 0 <= behind &&
                        behind < axioms_.powerOfTwo(recv.loops.back().index));
  }
  case Guess::BlockOfPeer: {
    if (recv.loops.empty()) // ranks fold before
      return contribution(body_.source == recv.peer);
    const Term &index = recv.loops.back().index;
    return contribution(ranks_.isRank(body_.source) &&
                        axioms_.shiftedRight({}, place(body_.source), index) ==
                            axioms_.shiftedRight({}, place(recv.peer), index));
  }
  case Guess::HalvesOfPeer: {
    std::optional<Content> content = contribution(body_.source == recv.peer);
    if (!content || recv.pieces.size() != 1)
      return std::nullopt;
    if (body_.buffers()[recv.pieces[0].buffer].dims == 2)
      content->originBlock = body_.block;
    if (recv.loops.empty()) // ranks fold before
      return content;
    const Loop &loop = recv.loops.back();
    Term bits = axioms_.logarithmDown(ranks_.ranks) - (loop.index - loop.first);
    auto lowBits = [&](const Term &rank) {
      Term at = place(rank);
      return at - axioms_.shiftedLeft(axioms_.shiftedRight({}, at, bits), bits);
    };
    content->isDefined = axioms_.shiftedRight({}, place(body_.block), bits) ==
                         axioms_.shiftedRight({}, place(recv.peer), bits);
    content->has = ranks_.isRank(body_.source) && lowBits(body_.source) == lowBits(recv.peer);
    return content;
  }
  case Guess::Peer:
    return contribution(body_.source == recv.peer);
  }
  return std::nullopt;
}

void FormProof::proveSynchronization() {
  const Program &program = body_.program();
  const Decl &decl = program.decl(body_.collective());
  for (uint32_t e : decl.ensures)
    if (program.ensures[e].kind == EnsureKind::Synchronizes) {
      if (!synchronizes(body_, *messages_, prover_, axioms_, ranks_))
        throw NotShown(program.ensures[e].loc, "a rank may finish before all have started");
      heard_ = {Heard::All};
      return;
    }
  bool hasData = std::any_of(decl.params.begin(), decl.params.end(),
                             [](const Param &p) { return p.isBuffer; });
  if (const Tree *tree = body_.treeParameter(); tree && !hasData)
    heard_ = heardAlong(*tree, body_, *messages_, prover_, axioms_, ranks_);
}

void FormProof::proveData() {
  for (const Link &link : messages_->links()) {
    const Site &send = body_.sites[link.send], &recv = body_.sites[link.recv];
    for (size_t i = 0; i < recv.pieces.size(); ++i) {
      Terms facts = recv.condition;
      facts.insert(facts.end(), {link.recvHolds, body_.isIn(recv.pieces[i])});
      Content there = atReceiver(link, send.sent[i], send, recv, i);
      if (!prover_.proves(
              facts, body_.equal(recv.content, there),
              {send.loc, "this message may carry other values than its receive assumes"}))
        throw NotShown(send.loc, "what this message carries was not shown");
    }
  }
}

/// The sides of a promise are as long, and of one type.
void FormProof::provePromisedLength(const Promise &p, const SliceValue::Alternative &operand,
                                    const Piece &goal, const Piece &from, Terms facts) {
  const Buffer &to = body_.buffers()[goal.buffer], &there = body_.buffers()[from.buffer];
  if (goal.isRun != from.isRun || to.type != there.type)
    throw NotShown(p.loc, "the sides of this promise do not compare here");
  Term giver = body_.other();
  facts.push_back(operand.condition);
  facts.push_back(substitute(p.has, {body_.source}, {giver}));
  Term alike = goal.isRun ? goal.blocks == from.blocks : goal.length == from.length;
  if (goal.isRun) {
    Term i = prover_.fresh("block"), at = prover_.constant("block.of.holder");
    Term theirs = substitute(there.length(at), {ranks_.rank, at}, {giver, from.block + i});
    alike = alike && implies(0 <= i && i < goal.blocks, to.length(goal.block + i) == theirs);
  }
  // `source` stands for the giver in operands of reductions.
  prover_.require(facts, substitute(alike, {body_.source}, {giver}),
                  {p.loc, "the sides of this promise may not be as long"});
}

void FormProof::provePromises() {
  for (const Promise &p : body_.promises()) {
    Terms about{ranks_.isRank(ranks_.rank)};
    about.insert(about.end(), p.condition.begin(), p.condition.end());
    Terms some;
    for (const SliceValue::Alternative &target : p.target.alternatives)
      for (const Piece &goal : target.pieces)
        some.push_back(target.condition && body_.isIn(goal));
    about.push_back(disjunction(prover_, some));
    if (prover_.refutes(about))
      throw NotShown(p.loc, "this promises nothing");
  }
  for (const Promise &p : body_.promises())
    for (const SliceValue::Alternative &target : p.target.alternatives)
      for (const SliceValue::Alternative &operand : p.operand.alternatives)
        for (size_t i = 0; i < target.pieces.size(); ++i) {
          const Piece &goal = target.pieces[i];
          Terms facts{ranks_.isRank(ranks_.rank), target.condition, operand.condition,
                      body_.isIn(goal)};
          facts.insert(facts.end(), p.condition.begin(), p.condition.end());
          provePromisedLength(p, operand, goal, operand.pieces[i], facts);
          Content wanted = body_.promised(p, operand, i, goal);
          if (!prover_.proves(facts, body_.equal(wanted, body_.exits[goal.buffer]),
                              {p.loc, "this promise may not hold at the end"}))
            throw NotShown(p.loc, "that this promise holds was not shown");
        }
}

/// The bytes that callers see are written where a promise is about them, and nowhere else.
void FormProof::proveWrites() {
  for (const Write &write : body_.writes) {
    Terms some;
    for (const Promise &p : body_.promises())
      for (const SliceValue::Alternative &a : p.target.alternatives)
        for (const Piece &goal : a.pieces) {
          if (goal.buffer != write.target.buffer)
            continue;
          Term in = conjunction(prover_, p.condition) && a.condition && body_.isIn(goal);
          if (p.variables.empty())
            some.push_back(in);
          else
            for (const Term &v :
                 axioms_.inverses().solve(prover_, goal.block, p.variables[0], body_.block))
              some.push_back(substitute(in, {p.variables[0]}, {v}));
        }
    Terms facts = write.condition;
    facts.push_back(body_.isIn(write.target));
    prover_.require(facts, disjunction(prover_, some),
                    {write.loc, "bytes may be written about which nothing is promised"});
  }
}

/// Appends the queries on which the proof rests.
void FormProof::addSteps(std::vector<ProofStep> &steps) const {
  const Decl &decl = program_.decl(collective_);
  std::string inPlace =
      form_ ? " (" + program_.nameOf(decl.params[decl.aliases[*form_].param]) + " in place)" : "";
  for (const ProofRecord::Step &step : prover_.recorded()->steps()) {
    const SourceLoc at = step.mistake.loc.known() ? step.mistake.loc : decl.loc;
    std::string title = program_.files[at.file] + ":" + std::to_string(at.line) + ":" +
                        std::to_string(at.column) + ": refuted: " + step.mistake.what + inPlace;
    std::replace(title.begin(), title.end(), '\n', ' ');
    title = printable(title);
    steps.push_back({title, smtLib(prover_.recorded()->query(step.query), title)});
  }
}

void FormProof::prove() {
  if (prover_.refutes({ranks_.isRank(ranks_.rank)}))
    throw NotShown({}, "'where' allows no number of ranks");
  // Messages do not depend on data, so they are known before it.
  body_.run([&](const Site &) { return body_.undefined(); }, Body::Data::Unknown);
  messages_.emplace(body_, prover_, axioms_, ranks_);
  dataless_ = body_.sites;
  proveOrder(body_, *messages_, prover_, axioms_, ranks_);
  proveSynchronization();

  // All receives that combine bring one kind of thing, and all others do. Of the guesses that fail
  // the one tells why that came farthest.
  std::optional<NotShown> why;
  unsigned farthest = 0;
  for (Guess plain : kGuesses) {
    bool hasPlain = false;
    for (Guess combined : kCombinedGuesses) {
      bool hasCombined = false, isKnown = true;
      unsigned step = 0;
      Prover::Attempt attempt(prover_);
      try {
        body_.run(
            [&](const Site &recv) {
              (recv.combines ? hasCombined : hasPlain) = true;
              Prover::Attempt search(prover_); // a guess is proved later
              std::optional<Content> content = guess(recv.combines ? combined : plain, recv);
              isKnown = isKnown && content;
              return content ? *content : body_.undefined();
            },
            Body::Data::Known);
        step = 1;
        proveData();
        step = 2;
        provePromises();
        step = 3;
        proveWrites();
        attempt.succeed();
        return;
      } catch (const NotShown &e) {
        if (!why || (isKnown && step > farthest)) {
          why = e;
          farthest = step;
        }
        // The trees of callers keep no order: no other guess will do.
        if (e.forWantOfOrder && combined == Guess::BelowPeer)
          throw;
      }
      if (!hasCombined)
        break;
    }
    if (!hasPlain)
      break;
  }
  throw *why;
}

} // namespace

std::string solverName() {
  unsigned major = 0, minor = 0, build = 0, revision = 0;
  Z3_get_version(&major, &minor, &build, &revision);
  return "z3 " + std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(build);
}

void limitSolverMemory(uint32_t mebibytes) {
  // Solvers look at it now and then. The hard limit of z3 4.8 ends the process.
  z3::set_param("memory_high_watermark", std::to_string(uint64_t{mebibytes} << 20).c_str());
}

const AllRanksProof &AllRanksProofs::of(DeclId collective) {
  auto [known, isNew] = known_.try_emplace(collective);
  if (isNew) {
    AllRanksProof proof = prove(collective);
    known_[collective] = std::move(proof);
  }
  return known_[collective];
}

/// Throws NotShown if a call cannot rest on the callee's proof.
CalleeProof AllRanksProofs::requireProof(DeclId callee, SourceLoc loc, AllRanksProof &caller) {
  const AllRanksProof &other = of(callee);
  std::string name = "'" + program_.nameOf(program_.decl(callee)) + "'";
  if (!other.isProved)
    throw NotShown(loc, name + " is not proved" +
                            (other.reason.empty() ? ", as it calls itself" : ": " + other.reason));
  caller.structures.insert(other.structures.begin(), other.structures.end());
  return {!other.restrictedTo.empty(), other.heard};
}

AllRanksProof AllRanksProofs::prove(DeclId collective) {
  Prover::Clock::time_point begin = Prover::Clock::now(), end = begin + limit_;
  AllRanksProof proof;
  const Decl &decl = program_.decl(collective);
  bool reduces = std::any_of(decl.params.begin(), decl.params.end(), [](const Param &p) {
    return !p.isBuffer && p.type == ValueType::Reduction;
  });
  std::vector<ProofStep> steps;
  std::vector<Form> forms{std::nullopt};
  for (size_t i = 0; i < decl.aliases.size(); ++i)
    forms.push_back(i);
  // An operator that need not commute first, then one that does.
  for (bool commutes : {false, true}) {
    if (proof.isProved || (commutes && !reduces))
      break;
    proof.structures.clear();
    steps.clear();
    proof.restrictedTo = commutes ? "operators that commute" : "";
    try {
      for (const Form &form : forms) {
        auto callee = [&](DeclId id, SourceLoc loc) { return requireProof(id, loc, proof); };
        FormProof one(program_, collective, form, end, callee, commutes, sink_ != nullptr);
        one.prove();
        if (sink_)
          one.addSteps(steps);
        proof.queries += one.queries();
        proof.heard = one.heard(); // the same in each form
        proof.structures.merge(one.structures());
        if (!one.restrictedTo().empty())
          proof.restrictedTo = one.restrictedTo();
      }
      proof.isProved = true;
      proof.reason.clear();
    } catch (const NotShown &e) {
      if (!commutes) {
        proof.reason = e.what();
        proof.loc = e.loc;
      }
    } catch (const OutOfTime &) {
      proof.reason = "not shown within " + std::to_string(limit_.count() / 1000) + " s";
      break;
    } catch (const OutOfMemory &) {
      proof.reason = kNoMemory;
      break;
    } catch (const z3::exception &e) {
      bool isMemory = std::string_view(e.msg()).find("memory") != std::string_view::npos;
      proof.reason = isMemory ? kNoMemory : std::string("z3: ") + e.msg();
      break;
    }
  }
  if (decl.deterministic)
    proof.leftOut.push_back("'deterministic'");
  for (uint32_t ensure : decl.ensures)
    if (program_.ensures[ensure].kind == EnsureKind::Cost) {
      proof.leftOut.push_back("bounds of costs");
      break;
    }
  proof.seconds = std::chrono::duration<double>(Prover::Clock::now() - begin).count();
  if (sink_ && proof.isProved)
    sink_(collective, proof, steps);
  return proof;
}

} // namespace colldsl::parameterized
