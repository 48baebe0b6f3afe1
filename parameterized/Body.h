/// The execution of a collective's body by any rank: what each statement does, and what buffers
/// hold where it does it.
///
/// Contents are functions of a position, a block and an element of it: three free constants stand
/// for the position and for a rank that contributes (Body::block, element, source). So one formula
/// says what all bytes of a buffer hold. A loop is summarised by a guess of what buffers hold after
/// its first iterations; the guess is proved by induction over the iterations.
#pragma once

#include "parameterized/CalleeProof.h"
#include "parameterized/Evaluator.h"

#include <map>
#include <optional>
#include <set>

namespace colldsl::parameterized {

/// The value at any position of a buffer: the contributions of those ranks `source` for which `has`
/// holds, each the entry value of buffer `origin` at (originBlock, originElement), combined in the
/// order of ranks. If `isDefined` does not hold, the position holds nothing that may be read.
struct Content {
  Term isDefined;
  Term origin;
  Term has;
  Term originBlock, originElement;
};

/// A loop around a site: first <= index < last.
struct Loop {
  Term index, first, last;
};

enum class SiteKind : uint8_t { Send, Recv, Signal, Wait, Copy, Combine, Call };

/// A statement where it stands, with its loops: all its executions by all ranks.
struct Site {
  SiteKind kind;
  SourceLoc loc;
  Terms condition; ///< of an execution, with those of the loops' ranges
  std::vector<Loop> loops;
  /// Its place in program order: number 0, index of loop 0, number 1, index of loop 1, ...
  std::vector<unsigned> numbers;
  uint32_t statement; ///< alike for the alternatives of one statement

  Term peer, tag;                            ///< of messages
  std::optional<std::pair<Term, Term>> edge; ///< along which: its slot here, and at the peer
  const Graph *graph = nullptr;              ///< whose edge it is
  bool isMulticast = false;
  Pieces pieces;             ///< what is sent, received or written
  Pieces read;               ///< by a copy or combine
  std::vector<Content> sent; ///< by piece: what the buffer holds
  Content content;           ///< received: assumed, by position of the target
  bool combines = false;
  Side side = Side::After;
  uint32_t label = kNoSlot; ///< index into Program::labels
  Terms labelIndices;

  std::set<Heard> heard;           ///< of a call, by the group and by a tree of that
  std::optional<GroupValue> group; ///< nothing: all ranks
  const Tree *tree = nullptr;      ///< nullptr: nothing but the root is known
  std::optional<Term> root;

  Terms indices() const {
    Terms all;
    for (const Loop &l : loops)
      all.push_back(l.index);
    return all;
  }
};

/// `waiting requires awaited`
struct StatedOrder {
  Terms condition;
  std::vector<Loop> loops;
  uint32_t waitingName, awaitedName;
  Terms waitingIndices, awaitedIndices;
  SourceLoc loc;
};

/// A write of a parameter's bytes.
struct Write {
  SourceLoc loc;
  Terms condition;
  Piece target;
};

/// A promise: where `condition` holds, each position of the target holds what the operands have.
struct Promise {
  SourceLoc loc;
  Terms condition;
  Terms variables; ///< of its `for`
  SliceValue target;
  SliceValue operand; ///< of rank `source`
  Term has;           ///< whether `source` contributes
  bool isReduction;
  bool isAgreed = false; ///< the operand is that of one rank, on which all agree
};

/// The form of a call: an index into Decl::aliases, of the parameter that lies in place; nothing:
/// none does.
using Form = std::optional<size_t>;

class Body {
public:
  /// Yields what a received message holds at each position of its target.
  using Payload = std::function<Content(const Site &recv)>;
  /// Throws NotShown, with the reason, if that collective is not proved for all ranks.
  using Callee = std::function<CalleeProof(DeclId, SourceLoc)>;

  Body(const Program &program, DeclId collective, Prover &prover, Axioms &axioms,
       const Ranks &ranks, Form form, Callee callee);

  enum class Data : uint8_t {
    Unknown, ///< what loops write is not known, and nothing is required of data
    Known,
  };
  /// Executes the body; `payload` says what messages bring.
  void run(const Payload &payload, Data data);
  /// After run(), as its loops may be needed to say which lengths are equal.
  const std::vector<Promise> &promises() const { return promises_; }

  Content undefined();
  Content contentAt(const Content &c, const Term &block, const Term &element) const;
  Content map(const Content &c, const std::function<Term(const Term &)> &f) const;
  Content choose(const Term &c, const Content &a, const Content &b) const;
  /// A formula: the second is defined where the first is, and holds the same there.
  Term equal(const Content &a, const Content &b) const;
  /// A formula: (block, element) lies in the piece.
  Term isIn(const Piece &piece) const;
  /// The position in `from` that moves to (block, element) in `to`.
  std::pair<Term, Term> origin(const Piece &from, const Piece &to) const;
  /// The value that a promise states for (block, element) of a piece of its target.
  Content promised(const Promise &promise, const SliceValue::Alternative &operand, size_t piece,
                   const Piece &target);

  const std::vector<Buffer> &buffers() const { return evaluator_.buffers; }
  const Term &other() const { return other_; }
  const Program &program() const { return program_; }
  DeclId collective() const { return decl_; }
  /// This rank, and those on which the members of its groups agree.
  Terms holders() const;
  /// The tree that callers give; nullptr: none or several.
  const Tree *treeParameter() const;
  Evaluator &evaluator() { return evaluator_; }

  std::vector<Site> sites;
  std::vector<StatedOrder> orders;
  std::vector<Site> labels; ///< operations with a label, also those that do nothing
  std::vector<Write> writes;
  std::vector<Content> exits; ///< of buffers, at the end
  const Term block, element, source;
  Terms commutes;           ///< of the operators that are parameters: whether each does
  std::string restrictedTo; ///< what is proved for a part of the calls only: which

private:
  struct Written {
    unsigned buffer;
    Term block, element; ///< where its target begins
    bool combines;
    Term has, originBlock, originElement; ///< of what is written
    Term where;                           ///< whether (block, element) is written
  };
  using Bind = std::function<void()>;

  /// Two frames of one declaration: where targets lie, and where operands lie at entry.
  struct Contract {
    Frame targets, operands;
    std::optional<GroupValue> group; ///< whose numbers the frames have in place of ranks
  };

  void bindParameters(Form form);
  void bindValue(const Param &p);
  void checkDefault(const Param &p);
  Term rankOf(const Contract &contract, const Term &number, SourceLoc loc, const std::string &what);
  SliceValue operandOf(Contract &contract, ExprId id);
  void requireOperation(SourceLoc loc, const ReductionValue &operation);
  void addRequirement(ExprId id);
  void requireContribution(SourceLoc loc, const SliceValue &target, const ListValue &over,
                           const Terms &has, const Term &i, const Term &ofThisRank);
  unsigned addBuffer(const std::string &name, BufferRole role, const BufferType &type,
                     const Term &isSignificant, SourceLoc loc);
  bool assumeLength(const Term &size);
  SliceValue wholeOf(unsigned buffer);
  Content entry(unsigned buffer);
  /// The values of an iterable in promises: how many, and how to bind one.
  std::pair<Term, std::function<Value(const Term &)>> valuesOf(Frame &frame, ExprId iterable);
  void promise(Contract &contract, uint32_t ensure, Terms condition, Terms variables,
               std::vector<Promise> &out);
  void equateLengths(const std::vector<Promise> &promises);
  void moveToOther(Frame &frame, const Decl &decl);
  Term isOperand(unsigned buffer) const;
  Term isOperand(const std::vector<Promise> &promises, unsigned buffer) const;

  void execute(StmtId id);
  bool mayFail(ExprId id) const;
  Value evaluateLazily(Frame &frame, ExprId id);
  void executeTemp(const Stmt &s);
  void executeIf(const Stmt &s);
  void executeMessage(const Stmt &s);
  void executeCopy(const Stmt &s, bool combines);
  void executeOrder(const Stmt &s);

  void executeCall(const Stmt &s);
  bool hasListedLengths(StmtId id) const;
  Contract bindCall(const Stmt &s, const Decl &callee, bool isRestricted);
  void require(const Stmt &s, const Decl &callee, Frame &inner, ExprId requirement);
  void bindSizes(const Stmt &s, const Decl &callee, Frame &inner);
  void requireAgreement(SourceLoc loc, const Term &value, const std::string &what);
  void requireAgreement(SourceLoc loc, const Value &value, const std::string &name);
  Value translated(SourceLoc loc, const Param &p, const Value &value);
  Term isPartner() const;
  bool isAgreed(const Term &value, const Mistake &mistake);
  Terms possibleHolders(const Term &has);
  Term holderOf(const Content &there, Terms facts, SourceLoc loc);
  void requirePromisedLength(SourceLoc loc, const Promise &promise,
                             const SliceValue::Alternative &target);
  void requireForms(const Stmt &s, const Decl &callee, Frame &inner);
  Content broughtBy(const Promise &promise, const Piece &target, SourceLoc loc);
  Term atOther(const Term &t) const { return substitute(t, {ranks_.rank}, {other_}); }

  std::vector<Promise> statedBy(const Stmt &s, const Loop &loop, const Bind &bind);
  std::map<unsigned, Content> contentsOf(const std::vector<Promise> &stated);
  Term holds(const Promise &p, const SliceValue::Alternative &target,
             const SliceValue::Alternative &operand, size_t piece, const std::vector<Content> &held,
             const Loop &loop, const Term &at, Terms &facts);
  const Promise &notKept(const std::vector<Promise> &stated, const Loop &loop,
                         const std::vector<Content> &before, const std::vector<Content> &after);
  void requireStated(const std::vector<Promise> &stated, const Loop &loop,
                     const std::vector<Content> &held, const Term &when);

  void executeFor(const Stmt &s);
  void executeIteration(const Stmt &s, const Loop &loop, const Bind &bind);
  void iterate(const Stmt &s, const Loop &loop, const Bind &bind);
  Content guessPlaces(const Loop &loop, unsigned buffer, const Content &before,
                      const Content &after, const std::vector<Written> &writes);
  Content guessSum(const Loop &loop, unsigned buffer, const Content &before,
                   const std::vector<Written> &writes);
  Term endOf(const Loop &loop) const;
  Term isInBuffer(unsigned buffer) const;
  Terms solveContribution(const Term &has, const Term &index, bool atEnds = false);
  bool isBase(SourceLoc loc, const Loop &loop, const std::vector<Content> &before,
              const std::vector<Content> &guess, const std::set<unsigned> &touched,
              const Terms &facts);
  bool isInductive(SourceLoc loc, const Loop &loop, const std::vector<Content> &before,
                   const std::vector<Content> &guess, const std::vector<Content> &after,
                   const std::set<unsigned> &touched);

  Terms indicesOf(const LabelRef &label);
  void addLabel(const Stmt &s);
  Term isEarlier(const Site &set) const;
  void requireLabel(SourceLoc loc, const LabelRef &label, const Terms &indices);
  Site makeSite(const Stmt &s, SiteKind kind);
  std::vector<SliceValue::Alternative> possible(const SliceValue &s);
  void requireAddress(SourceLoc loc, const Piece &p);
  void access(SourceLoc loc, const Piece &p, bool writes);
  /// The alternative of the slice, outside of which the statement writes another one.
  void write(const Site &site, const Term &alternative, const Piece &target, const Content &value);
  Term writtenWhere(const Term &isTarget);
  void requireCombinable(const Site &site, const Piece &target, const Content &old,
                         const Content &incoming);
  void requireAlike(SourceLoc loc, const Piece &a, const Piece &b);
  void requireApart(SourceLoc loc, const Piece &a, const Piece &b);
  bool isSame(const Piece &a, const Piece &b);

  const Program &program_;
  const DeclId decl_;
  Prover &prover_;
  Axioms &axioms_;
  const Ranks &ranks_;
  Evaluator evaluator_;
  Frame frame_;
  const Callee callee_;
  const Term other_; ///< any rank: that of an operand of a call
  Payload payload_;
  std::vector<Promise> promises_;
  Frame entryFrame_;                        ///< where the buffers of rank `other_` lie at entry
  std::optional<ReductionValue> operation_; ///< of all combines and promises
  std::vector<Content> entries_, state_;    ///< of buffers
  std::vector<Loop> loops_;
  std::vector<unsigned> numbers_;
  uint32_t statement_ = 0;
  std::optional<GroupValue> callGroup_; ///< of the call that is executed
  Terms roots_; ///< ranks, of `rank`, that calls over groups have as arguments
  std::map<uint32_t, unsigned> temps_; ///< by statement: its buffer
  unsigned parameters_ = 0;            ///< how many buffers are parameters
  std::vector<const Tree *> givenTrees_;

  Data data_ = Data::Known;
  bool isTrial_ = false;    ///< of a loop: its writes are recorded, and nothing is required of data
  size_t trialFacts_ = 0;   ///< how many facts hold outside of the loop that is tried
  size_t trialDepth_ = 0;   ///< how many loops are around it
  bool tookStated_ = false; ///< a trial took invariants of an inner loop as they are stated
  std::vector<Written> *written_ = nullptr;
  std::set<unsigned> *touched_ = nullptr; ///< buffers
};

} // namespace colldsl::parameterized
