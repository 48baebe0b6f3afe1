// Statements other than calls.
#include "instantiate/Interpreter.h"

#include <algorithm>

namespace colldsl {
namespace {

std::string counted(uint64_t count, const char *noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

/// The length of a list of slices: a number of elements, and of blocks, or parts of blocks, whose
/// lengths are known at call time only.
class Lengths {
public:
  explicit Lengths(std::span<const Region> regions) {
    for (const Region &region : regions) {
      bool isBlock = region.slice.block != kNoBlock;
      (isBlock ? shares_ : elements_) += region.endAt - region.beginAt;
      blocks_ += isBlock;
    }
  }

  bool sameAs(const Lengths &other) const {
    return elements_ == other.elements_ && shares_ == other.shares_;
  }

  std::string words() const {
    std::string elements = counted(static_cast<uint64_t>(elements_), "element");
    if (blocks_ == 0)
      return elements;
    bool areWhole = shares_ == static_cast<Int128>(blocks_) << 32;
    std::string blocks = blocks_ == 1 ? "a block whose length is"
                                      : std::to_string(blocks_) + " blocks whose lengths are";
    return (elements_ > 0 ? elements + " and " : "") + (areWhole ? "" : "a part of ") + blocks +
           " known at call time only";
  }

private:
  Int128 elements_ = 0;
  Int128 shares_ = 0; ///< of blocks, each at a length of 2^32
  size_t blocks_ = 0;
};

} // namespace

void Interpreter::runBody(DeclId decl) {
  if (!failed_)
    runCode(program_.code.ofDecl[index(decl)].body);
}

SliceValue Interpreter::execTemp(const Stmt &s) {
  Buffer buffer;
  buffer.name = program_.tempNames[s.value];
  return makeBuffer(program_.temps[s.value], buffer, s.loc);
}

/// Makes the id of the next message: equal on both of its sides, and on no other pair. `key` holds
/// all that its statement says except the peer.
MessageId Interpreter::nextMessage(OpKind kind, int64_t peer, uint64_t key) {
  auto end = (static_cast<uint64_t>(peer) << 1) | (sendsMessage(kind) ? 1 : 0);
  return MessageId{mixHash(key, counts_[key + end * 0xff51afd7ed558ccdu]++)};
}

/// The key of a message: its call, its tag if that is not 0, and its edge if it has one.
uint64_t Interpreter::messageKey(const Stmt &s, int64_t tag, const EdgeRef *along) {
  uint64_t key = frame_->instance;
  if (s.c != kNoExpr && tag != 0)
    key = mixHash(key, static_cast<uint64_t>(tag));
  if (along) {
    EdgeValue e = edge(along->handle(), s.loc);
    key = mixHash(key, mixHash(static_cast<uint64_t>(e.key), e.ordinal) | 1);
  }
  return key;
}

/// The peer of a statement that names an edge; fails if the edge has the other direction.
int64_t Interpreter::peerAlong(const Stmt &s, EdgeRef along) {
  if (along.in != sendsMessage(s.op))
    return edge(along.handle(), s.loc).peer;
  fail(s.loc, std::string(spelling(s.op)) + " along an edge that comes " +
                  (along.in ? "in" : "from here"));
  return kNone;
}

/// Adds a message whose slices are in carried_. Tag and reduction are ignored if the statement has
/// none.
void Interpreter::execMessage(const Stmt &s, int64_t peer, int64_t tag, int64_t reduction) {
  EdgeRef along{};
  if (s.alongEdge) {
    along = EdgeRef::of(peer);
    peer = peerAlong(s, along);
  }
  if (peer == kNone || failed_)
    return;
  const Group &group = *frame_->group;
  if (static_cast<uint64_t>(peer) >= group.size)
    return failBeyond(
        s.loc, std::string(spelling(s.op)) + (sendsMessage(s.op) ? " to" : " from") + " rank",
        peer);
  bool isSimple = s.c == kNoExpr && !s.alongEdge;
  uint64_t key = isSimple ? frame_->instance : messageKey(s, tag, s.alongEdge ? &along : nullptr);
  if (carried_.size() > 1) {
    if (!checkTotal(carried_, s.loc))
      return;
    joinAdjacent(carried_);
  }
  bool combines = s.d != kNoExpr && !carried_.empty();
  if (combines && (!mayCombine(static_cast<Reduction>(reduction), {}, carried_, s.loc) ||
                   !mayReceiveAndCombine(s.loc)))
    return;
  Op &op = builder_.addPlain();
  op.kind = s.op;
  op.loc = s.loc;
  op.peer = group.world(static_cast<uint32_t>(peer));
  op.message = nextMessage(s.op, peer, key);
  op.transfer.multicast = s.value == 1;
  if (s.a == kNoExpr)
    return checkCounts(s.loc);
  std::span<const Region> carried = carried_, nothing;
  Status added =
      combines ? builder_.receiveAndCombine(static_cast<Reduction>(reduction), s.side, carried)
      : sendsMessage(s.op) ? builder_.touch(carried, nothing)
                           : builder_.touch(nothing, carried);
  carried_.clear();
  if (!added)
    fail(added.diagnostic());
  checkCounts(s.loc);
}

void Interpreter::failTooMany(SourceLoc loc) {
  bool isOps = builder_.numOps() > maxOps_;
  uint64_t count = isOps ? builder_.numOps() : builder_.numDeps();
  uint64_t limit = isOps ? maxOps_ : maxDeps_;
  uint64_t given = isOps ? request_.limits.maxOps : request_.limits.maxDeps;
  std::string hint =
      given > limit ? "no rank can have more"
                    : "raise the limit with " + std::string(isOps ? "--max-ops" : "--max-deps");
  if (!isOps)
    hint += ", or let fewer ops touch the same elements";
  Diagnostic d = Diagnostic::error(loc,
                                   "with this statement the rank has " + std::to_string(count) +
                                       (isOps ? " ops" : " dependencies") + ", the limit is " +
                                       std::to_string(limit),
                                   std::move(hint));
  d.notes.push_back(
      Diagnostic::note(frame_->decl->loc, "in '" + program_.nameOf(*frame_->decl) + "'"));
  fail(std::move(d));
}

void Interpreter::addOp(const Op &op) {
  Op &added = builder_.addPlain();
  uint32_t depBegin = added.depBegin;
  added = op;
  added.depBegin = depBegin;
  if (Status s = builder_.touch(sources_, targets_); !s)
    fail(s.diagnostic());
  checkCounts(op.loc);
}

/// True if source and target are equally long, now and for all sizes that are kept. A block whose
/// length travels takes the length of the data copied to it.
bool Interpreter::equalLengths(const Stmt &s) {
  auto capacity = [&](const Region &region) { return isCapacity(region); };
  bool takesLengths =
      s.kind == StmtKind::Copy && std::any_of(targets_.begin(), targets_.end(), capacity);
  if (!takesLengths) {
    if (!Lengths(sources_).sameAs(Lengths(targets_)))
      return failLengths(s, sources_, targets_);
    if (sources_.size() == 1 && targets_.size() == 1)
      pinUnlessAlike(sources_[0].slice, targets_[0].slice);
    return true;
  }
  if (sources_.size() != targets_.size()) {
    fail(s.loc, "copy of " + counted(sources_.size(), "slice") + " to " +
                    counted(targets_.size(), "slice") +
                    ", of which one is a block that takes the length of one slice");
    return false;
  }
  for (size_t i = 0; i < sources_.size(); ++i)
    if (!takesLength(s, sources_[i], targets_[i]))
      return false;
  return true;
}

bool Interpreter::failLengths(const Stmt &s, std::span<const Region> sources,
                              std::span<const Region> targets) {
  fail(s.loc, (s.kind == StmtKind::Copy ? "copy of " : "combine of ") + Lengths(sources).words() +
                  " to " + Lengths(targets).words());
  return false;
}

bool Interpreter::isCapacity(const Region &region) const {
  return dag_->buffers[index(region.slice.buffer)].layout == Layout::Capacity;
}

/// Checks one slice of a copy whose target is a block of capacity, or stands beside one in the
/// list. True if it fits.
bool Interpreter::takesLength(const Stmt &s, const Region &source, const Region &target) {
  bool isBlock = source.slice.block != kNoBlock;
  if (!isCapacity(target)) {
    if (!Lengths({&source, 1}).sameAs(Lengths({&target, 1})))
      return failLengths(s, {&source, 1}, {&target, 1});
    pinUnlessAlike(source.slice, target.slice);
    return true;
  }
  if (isBlock)
    return true;
  const Buffer &buffer = dag_->buffers[index(target.slice.buffer)];
  Position room = range_.at(buffer.endScale / buffer.blocks, buffer.endOffset / buffer.blocks, 1);
  int64_t length = source.endAt - source.beginAt;
  if (length > room.at) {
    fail(s.loc, "copy of " + counted(length, "element") + " to a block that has room for " +
                    std::to_string(room.at));
    return false;
  }
  const Slice &from = source.slice;
  if (from.denominator == 1) {
    range_.keepLessEqual(
        {from.endScale - from.beginScale, from.endOffset - from.beginOffset, 1, length}, room);
  } else if (from.beginScale != 0 || from.endScale != 0) {
    range_.pin();
  }
  return true;
}

/// Narrows the sizes to this n unless slices that are equally long at this n are so at every n.
void Interpreter::pinUnlessAlike(const Slice &a, const Slice &b) {
  bool same =
      a.denominator == b.denominator && a.endScale - a.beginScale == b.endScale - b.beginScale &&
      (a.denominator == 1 ? a.endOffset - a.beginOffset == b.endOffset - b.beginOffset
                          : a.beginScale == b.beginScale && a.beginOffset == b.beginOffset &&
                                a.endOffset == b.endOffset);
  if (!same && a.block == kNoBlock && b.block == kNoBlock &&
      (a.beginScale != 0 || a.endScale != 0 || b.beginScale != 0 || b.endScale != 0))
    range_.pin();
}

/// Checks that all elements have one type, and that this type has the operator.
bool Interpreter::mayCombine(Reduction reduction, std::span<const Region> sources,
                             std::span<const Region> targets, SourceLoc loc) {
  if (targets.empty())
    return true;
  ElementType type = typeOf(targets.front());
  for (std::span<const Region> regions : {sources, targets})
    for (const Region &region : regions)
      if (typeOf(region) != type) {
        fail(loc, "combine of elements of " + std::string(spelling(typeOf(region))) +
                      " into elements of " + std::string(spelling(type)));
        return false;
      }
  if (Status s = checkOperator(reduction, type); !s) {
    fail(loc, s.message());
    return false;
  }
  return true;
}

/// The receive fills a temporary of the target's length, which a combine then takes.
bool Interpreter::mayReceiveAndCombine(SourceLoc loc) {
  for (const Region &region : carried_)
    if (region.slice.block != kNoBlock && !isCapacity(region)) {
      fail(loc, "recv combine into a block whose length is known at call time only",
           "use capacity blocks: T[k][<= m]");
      return false;
    }
  return true;
}

/// Takes the regions carried since EndSources as targets. True if the statement may go on.
bool Interpreter::takeTargets(const Stmt &s) {
  targets_.swap(carried_);
  carried_.clear();
  joinAdjacent(sources_);
  joinAdjacent(targets_);
  return checkTotal(sources_, s.loc) && checkTotal(targets_, s.loc) && equalLengths(s);
}

void Interpreter::execCopy(const Stmt &s) {
  if (!takeTargets(s))
    return;
  if (sources_.size() == 1 && targets_.size() == 1 && sources_[0].slice == targets_[0].slice)
    return; // in-place forms turn copies into these
  Op op;
  op.loc = s.loc;
  op.kind = OpKind::Copy;
  addOp(op);
}

void Interpreter::execCombine(const Stmt &s, int64_t reduction) {
  if (!takeTargets(s) || !mayCombine(static_cast<Reduction>(reduction), sources_, targets_, s.loc))
    return;
  Op op;
  op.loc = s.loc;
  op.kind = OpKind::Combine;
  op.reduction = static_cast<Reduction>(reduction);
  op.side = s.side;
  if (!targets_.empty())
    op.type = typeOf(targets_[0]);
  addOp(op);
}

void Interpreter::execCalc(const Stmt &s, int64_t time) {
  if (time < 0)
    return fail(s.loc, "calc of " + std::to_string(time) + " ns");
  sources_.clear();
  targets_.clear();
  Op op;
  op.loc = s.loc;
  op.kind = OpKind::Calc;
  op.amount = static_cast<uint64_t>(time);
  addOp(op);
}

// Labels

std::string Interpreter::labelText(const LabelRef &label) {
  std::string result = text(label.text);
  for (uint32_t i = 0; i < label.indexCount; ++i)
    result += (i == 0 ? "[" : ", ") +
              std::to_string(eval(ExprId{program_.operands[label.indexBegin + i]}));
  return label.indexCount ? result + "]" : result;
}

void Interpreter::failLabelSetTwice(const LabelRef &label) {
  fail(label.loc, "label '" + labelText(label) + "' is set twice on this rank",
       "give it an index: " + text(label.text) + "[i]");
}

void Interpreter::failLabelNotSet(const LabelRef &label) {
  fail(label.loc, "label '" + labelText(label) + "' has not been set on this rank");
}

void Interpreter::depend(const Instruction &at, int64_t waiterIndex, int64_t firstIndex) {
  const LabelRef &waiter = program_.labels[at.origin], &first = program_.labels[at.to];
  const OpRange *waits = labels_.find(frame_->labels, waiter.name, waiterIndex);
  if (!waits)
    return failLabelNotSet(waiter);
  const OpRange *isFirst = labels_.find(frame_->labels, first.name, firstIndex);
  if (!isFirst)
    return failLabelNotSet(first);
  builder_.depend(*waits, *isFirst,
                  at.opcode == Opcode::Requires ? DepKind::Requires : DepKind::IRequires);
  checkCounts(waiter.loc);
}

// Trees and graphs

void Interpreter::execParent(const Stmt &s, int64_t parent) {
  TreeValue &tree = *frame_->tree;
  if (parent == kNone)
    return;
  if (parent < 0 || parent >= currentGroup().size)
    return failBeyond(s.loc, "parent", parent);
  if (tree.parent != kNone)
    return fail(s.loc, "rank " + std::to_string(currentGroup().me) + " has two parents, " +
                           std::to_string(tree.parent) + " and " + std::to_string(parent));
  tree.parent = parent;
}

void Interpreter::execChild(const Stmt &s, int64_t child) {
  if (child == kNone)
    return;
  if (child < 0 || child >= currentGroup().size)
    return failBeyond(s.loc, "child", child);
  frame_->tree->children.push_back(child);
}

void Interpreter::execEdge(const Stmt &s, const EdgeValue &edge) {
  if (edge.peer != kNone && (edge.peer < 0 || edge.peer >= currentGroup().size))
    return failBeyond(s.loc, s.value == 0 ? "edge to rank" : "edge from rank", edge.peer);
  frame_->graph->edges[s.value].push_back(edge);
}

} // namespace colldsl
