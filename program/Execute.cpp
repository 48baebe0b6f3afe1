// Statements other than calls.
#include "program/Interpreter.h"

namespace colldsl {

void Interpreter::exec(StmtId id) {
  if (failed_)
    return;
  const Stmt &s = program_.stmt(id);
  switch (s.kind) {
  case StmtKind::Block:
    return execBlock(s);
  case StmtKind::Let:
    if (s.sliceSlot) {
      SliceValue value = evalSlice(s.a);
      sliceSlot(s.slot) = value;
    } else {
      int64_t value = eval(s.a);
      intSlot(s.slot) = value;
    }
    return;
  case StmtKind::Temp: {
    Buffer buffer;
    buffer.name = program_.tempNames[s.value];
    SliceValue value = makeBuffer(program_.temps[s.value], buffer, s.loc);
    sliceSlot(s.slot) = value;
    return;
  }
  case StmtKind::For:
    return execFor(s);
  case StmtKind::If:
    if (eval(s.a))
      exec(s.body);
    else if (s.otherwise != kNoStmt)
      exec(s.otherwise);
    return;
  case StmtKind::Message:
    return execMessage(s);
  case StmtKind::Copy:
  case StmtKind::Combine:
  case StmtKind::Calc:
    return execLocal(s);
  case StmtKind::Depend:
    return execDepend(s);
  case StmtKind::Call:
    return execCall(s);
  case StmtKind::Parent:
    return execParent(s);
  case StmtKind::Child:
    return execChild(s);
  case StmtKind::Edge:
    return execEdge(s);
  }
}

void Interpreter::execBlock(const Stmt &s) {
  for (uint32_t i = 0; i < s.listCount && !failed_; ++i) {
    StmtId id{program_.operands[s.listBegin + i]};
    const Stmt &inner = program_.stmt(id);
    if (inner.kind == StmtKind::Message) // the most frequent one, without the detour
      execMessage(inner);
    else
      exec(id);
  }
}

void Interpreter::execFor(const Stmt &s) {
  if (s.sliceSlot) {
    iterateSegments(program_.expr(s.a), [&](const SliceValue &piece) {
      sliceSlot(s.slot) = piece;
      exec(s.body);
    });
    return;
  }
  iterate(s.a, [&](int64_t value) {
    intSlot(s.slot) = value;
    exec(s.body);
  });
}

void Interpreter::failPeer(const Stmt &s, int64_t peer) {
  fail(s.loc, std::string(spelling(s.op)) + (sendsMessage(s.op) ? " to" : " from") + " rank " +
                  std::to_string(peer) + ", but there are only " +
                  std::to_string(currentGroup().size) + " ranks");
}

MessageId Interpreter::nextMessage(const Stmt &s, int64_t peer, const EdgeRef *along) {
  uint64_t key = frame_->instance;
  if (int64_t tag = evalOr(s.c, 0))
    key = mixHash(key, static_cast<uint64_t>(tag));
  if (along) {
    EdgeValue e = edge(along->handle(), s.loc);
    key = mixHash(key, mixHash(static_cast<uint64_t>(e.key), e.ordinal) | 1);
  }
  auto end = (static_cast<uint64_t>(peer) << 1) | (sendsMessage(s.op) ? 1 : 0);
  return MessageId{mixHash(key, counts_[key + end * 0xff51afd7ed558ccdu]++)};
}

void Interpreter::execMessage(const Stmt &s) {
  uint32_t first = builder_.size();
  int64_t peer = eval(s.b);
  EdgeRef along{};
  if (s.alongEdge && !failed_) {
    along = EdgeRef::of(peer);
    if (along.in == sendsMessage(s.op))
      return fail(s.loc, std::string(spelling(s.op)) + " along an edge that comes " +
                             (along.in ? "in" : "from here"));
    peer = edge(along.handle(), s.loc).peer;
  }
  if (failed_)
    return;
  if (peer == kNone)
    return setLabel(s, first, false);
  if (peer < 0 || peer >= currentGroup().size)
    return failPeer(s, peer);
  Op op;
  op.kind = s.op;
  op.loc = s.loc;
  op.peer = currentGroup().world(static_cast<uint32_t>(peer));
  op.message = nextMessage(s, peer, s.alongEdge ? &along : nullptr);
  std::vector<Region> &regions = s.op == OpKind::Recv ? targets_ : sources_;
  sources_.clear();
  targets_.clear();
  if (s.a != kNoExpr)
    evalSlices(s.a, regions);
  if (failed_)
    return;
  bool combines = s.d != kNoExpr && !targets_.empty();
  if (!combines)
    addOp(op);
  else if (Status added =
               builder_.addReceiveCombine(op, static_cast<Reduction>(eval(s.d)), s.side, targets_);
           !added)
    fail(added.diagnostic());
  setLabel(s, first, false);
}

void Interpreter::addOp(const Op &op) {
  if (builder_.size() >= request_.limits.maxOps)
    return fail(op.loc, "more than " + std::to_string(request_.limits.maxOps) + " ops on one rank",
                "raise the limit with --max-ops");
  if (sources_.empty() && targets_.empty())
    return builder_.addPlain(op);
  if (Status s = builder_.add(op, sources_, targets_); !s)
    fail(s.diagnostic());
}

/// Source and target must be equally long, now and for all sizes that are kept.
bool Interpreter::equalLengths(const Stmt &s) {
  int64_t from = 0, to = 0;
  for (const Region &r : sources_)
    from += r.endAt - r.beginAt;
  for (const Region &r : targets_)
    to += r.endAt - r.beginAt;
  const char *word = s.kind == StmtKind::Copy ? "copy of " : "combine of ";
  if (from != to) {
    fail(s.loc, word + std::to_string(from) + " elements to " + std::to_string(to));
    return false;
  }
  if (sources_.size() != 1 || targets_.size() != 1)
    return true;
  const Slice &a = sources_[0].slice, &b = targets_[0].slice;
  bool same =
      a.denominator == b.denominator && a.endScale - a.beginScale == b.endScale - b.beginScale &&
      (a.denominator == 1 ? a.endOffset - a.beginOffset == b.endOffset - b.beginOffset
                          : a.beginScale == b.beginScale && a.beginOffset == b.beginOffset &&
                                a.endOffset == b.endOffset);
  if (!same && a.block == kNoBlock && b.block == kNoBlock &&
      (a.beginScale != 0 || a.endScale != 0 || b.beginScale != 0 || b.endScale != 0))
    range_.pin();
  return true;
}

void Interpreter::execLocal(const Stmt &s) {
  uint32_t first = builder_.size();
  Op op;
  op.loc = s.loc;
  sources_.clear();
  targets_.clear();
  if (s.kind == StmtKind::Calc) {
    int64_t time = eval(s.a);
    if (time < 0)
      fail(s.loc, "calc of " + std::to_string(time) + " ns");
    op.kind = OpKind::Calc;
    op.amount = static_cast<uint64_t>(time);
  } else {
    op.kind = s.kind == StmtKind::Copy ? OpKind::Copy : OpKind::Combine;
    evalSlices(s.a, sources_);
    evalSlices(s.b, targets_);
    if (failed_ || !equalLengths(s))
      return;
    bool onItself =
        sources_.size() == 1 && targets_.size() == 1 && sources_[0].slice == targets_[0].slice;
    if (op.kind == OpKind::Copy && onItself)
      return setLabel(s, first, false); // in-place forms turn copies into these
    if (op.kind == OpKind::Combine) {
      op.reduction = static_cast<Reduction>(eval(s.d));
      op.side = s.side;
      if (!targets_.empty())
        op.type = dag_->buffers[index(targets_[0].slice.buffer)].type;
    }
  }
  if (!failed_)
    addOp(op);
  setLabel(s, first, false);
}

// Labels

uint64_t Interpreter::labelKey(const LabelRef &label) {
  uint64_t key = uint64_t{frame_->serial} << 32 | label.name;
  for (uint32_t i = 0; i < label.indexCount; ++i)
    key = key * 0x9e3779b97f4a7c15u +
          static_cast<uint64_t>(eval(ExprId{program_.operands[label.indexBegin + i]}));
  return key;
}

std::string Interpreter::labelText(const LabelRef &label) {
  std::string result = text(label.text);
  for (uint32_t i = 0; i < label.indexCount; ++i)
    result += (i == 0 ? "[" : ", ") +
              std::to_string(eval(ExprId{program_.operands[label.indexBegin + i]}));
  return label.indexCount ? result + "]" : result;
}

void Interpreter::setLabel(const Stmt &s, uint32_t first, bool isCall) {
  if (failed_ || s.label == kNoSlot)
    return;
  const LabelRef &label = program_.labels[s.label];
  if (!builder_.setLabel(labelKey(label), {first, builder_.size(), isCall}))
    fail(label.loc, "label '" + labelText(label) + "' is set twice on this rank",
         "give it an index: " + text(label.text) + "[i]");
}

const LabelRange *Interpreter::findLabel(const LabelRef &label) {
  const LabelRange *range = builder_.findLabel(labelKey(label));
  if (!range && !failed_)
    fail(label.loc, "label '" + labelText(label) + "' has not been set on this rank");
  return range;
}

void Interpreter::execDepend(const Stmt &s) {
  const LabelRange *waiter = findLabel(program_.labels[s.listBegin]);
  for (uint32_t i = 1; i < s.listCount && !failed_; ++i)
    if (const LabelRange *first = findLabel(program_.labels[s.listBegin + i]))
      builder_.depend(*waiter, *first, s.value == 0 ? DepKind::Requires : DepKind::IRequires);
}

// Trees and graphs

void Interpreter::execParent(const Stmt &s) {
  int64_t parent = eval(s.a);
  TreeValue &tree = *frame_->tree;
  if (failed_ || parent == kNone)
    return;
  if (parent < 0 || parent >= currentGroup().size)
    return fail(s.loc, "parent " + std::to_string(parent) + ", but there are only " +
                           std::to_string(currentGroup().size) + " ranks");
  if (tree.parent != kNone)
    return fail(s.loc, "rank " + std::to_string(currentGroup().me) + " has two parents, " +
                           std::to_string(tree.parent) + " and " + std::to_string(parent));
  tree.parent = parent;
}

void Interpreter::execChild(const Stmt &s) {
  int64_t child = eval(s.a);
  if (failed_ || child == kNone)
    return;
  if (child < 0 || child >= currentGroup().size)
    return fail(s.loc, "child " + std::to_string(child) + ", but there are only " +
                           std::to_string(currentGroup().size) + " ranks");
  frame_->tree->children.push_back(child);
}

void Interpreter::execEdge(const Stmt &s) {
  EdgeValue edge;
  edge.peer = eval(s.a);
  edge.key = evalOr(s.b, 0);
  edge.weight = evalOr(s.c, 1);
  if (failed_)
    return;
  if (edge.peer != kNone && (edge.peer < 0 || edge.peer >= currentGroup().size))
    return fail(s.loc, "edge " + std::string(s.value == 0 ? "to" : "from") + " rank " +
                           std::to_string(edge.peer) + ", but there are only " +
                           std::to_string(currentGroup().size) + " ranks");
  frame_->graph->edges[s.value].push_back(edge);
}

} // namespace colldsl
