#include "instantiate/Interpreter.h"

#include <algorithm>

namespace colldsl {

Interpreter::Interpreter(const Program &program, const InstantiateRequest &request)
    : program_(program), exprs_(program.exprs.data()), request_(request),
      maxOps_(std::min<uint64_t>(request.limits.maxOps, DagBuilder::kMaxOps)),
      maxDeps_(std::min<uint64_t>(request.limits.maxDeps, UINT32_MAX)), range_(request.elements),
      groups_(request) {}

void Interpreter::fail(SourceLoc loc, std::string message, std::string hint) {
  fail(Diagnostic::error(loc, std::move(message), std::move(hint)));
}

void Interpreter::fail(Diagnostic d) {
  if (failed_)
    return;
  failed_ = true;
  unsigned shown = 0;
  for (const Frame *f = frame_; f && f->calledAt.known() && shown < 8; f = f->caller, ++shown)
    d.notes.push_back(Diagnostic::note(
        f->calledAt, "in '" + program_.nameOf(*f->decl) + "', used here by rank " +
                         std::to_string(f->caller ? f->caller->group->me : index(rank_)) + " of " +
                         std::to_string(f->caller ? f->caller->group->size : request_.ranks)));
  d.notes.push_back(Diagnostic::note({}, "on rank " + std::to_string(index(rank_)) + " of " +
                                             std::to_string(request_.ranks)));
  error_ = Status(std::move(d));
}

void Interpreter::failTooManySteps(SourceLoc loc) {
  fail(loc,
       "more than " + std::to_string(request_.limits.maxSteps) +
           " loop iterations, calls and list elements on one rank",
       "raise the limit with --max-steps");
}

Interpreter::Frame Interpreter::openFrame(DeclId decl, const Group *group, SourceLoc calledAt) {
  Frame frame{};
  frame.declId = decl;
  frame.decl = &program_.decl(decl);
  frame.group = group;
  frame.type = frame_ ? frame_->type : request_.type;
  frame.calledAt = calledAt;
  frame.caller = frame_;
  return frame;
}

namespace {

constexpr size_t kMaxStackBytes = size_t{3} << 20;

} // namespace

/// Bytes of stack between run() and here. Expressions recurse too, so the number of calls alone
/// does not bound the stack.
size_t Interpreter::stackUsed() const {
  auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  return stackBase_ > here ? stackBase_ - here : 0;
}

Interpreter::FrameScope::FrameScope(Interpreter &in, Frame &frame)
    : in_(in), caller_(in.frame_), ints_(in.ints_.mark()), slices_(in.slices_.mark()),
      sizes_(in.sizes_.mark()) {
  const DeclCode &code = in.program_.code.ofDecl[index(frame.declId)];
  frame.ints = in.ints_.push(code.registers);
  frame.ints[code.myRank] = frame.group->me;
  frame.ints[code.numRanks] = frame.group->size;
  for (const DeclCode::Constant &constant : code.constants)
    frame.ints[constant.to] = constant.value;
  frame.slices = in.slices_.push(code.sliceRegisters);
  frame.sizes = in.sizes_.push(code.sizeRegisters);
  std::fill_n(frame.sizes, frame.decl->sizeSlots, SizeExtent());
  frame.labels = in.labels_.open(code.labels);
  in.frame_ = &frame;
  if (++in.depth_ > in.request_.limits.maxCallDepth)
    in.fail(frame.calledAt,
            "calls are nested more than " + std::to_string(in.request_.limits.maxCallDepth) +
                " deep",
            "raise the limit with --max-call-depth");
  else if (in.stackUsed() > kMaxStackBytes)
    in.fail(frame.calledAt, "calls are nested too deep: they take more than " +
                                std::to_string(kMaxStackBytes >> 20) + " MiB of stack");
}

Interpreter::FrameScope::~FrameScope() {
  --in_.depth_;
  in_.labels_.close(in_.frame_->labels);
  in_.frame_ = caller_;
  in_.ints_.release(ints_);
  in_.slices_.release(slices_);
  in_.sizes_.release(sizes_);
}

template <typename Body> Status Interpreter::runAtEntry(Rank rank, Dag &dag, Body body) {
  stackBase_ = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  rank_ = rank;
  dag_ = &dag;
  dag.clear();
  builder_.begin(dag, range_);
  counts_.clear();
  frame_ = nullptr;
  depth_ = 0;
  labels_.clear();
  steps_ = 0;
  failed_ = false;
  error_ = Status();
  lists_.clear();
  groups_.clear();
  trees_.clear();
  graphs_.clear();
  if (!graphAt_.empty())
    graphAt_.clear();
  carried_.clear();
  remote_ = kNone;
  loop_ = kNoStmt;
  entryBuffers_.clear();
  calls.clear();
  trees.clear();
  costs.clear();

  Group world{nullptr, request_.ranks, index(rank)};
  Frame frame = openFrame(request_.collective, &world, {});
  frame.instance = 1;
  const Decl &decl = *frame.decl;
  FrameScope scope(*this, frame);
  bindEntryValues(decl);
  body(decl);
  return error_;
}

Status Interpreter::run(Rank rank, Dag &dag) {
  if (request_.limits.stop && request_.limits.stop->load(std::memory_order_relaxed))
    return Status::error("instantiation was stopped");
  return runAtEntry(rank, dag, [&](const Decl &decl) {
    for (const Param &param : decl.params)
      if (param.isBuffer && !failed_)
        bindEntryBuffer(param);
    if (request_.inPlace && !failed_)
      bindAliases(decl);
    checkRequirements(decl, decl.loc);
    runBody(request_.collective);
    if (request_.contract && !failed_)
      runCode(program_.code.ofDecl[index(request_.collective)].contract);
    if (!failed_)
      if (Status s = builder_.finish(); !s)
        fail(s.diagnostic());
    if (!failed_ && !dag.contract.invariants.empty())
      dag.contract.programOrder = builder_.programOrder();
  });
}

Result<int64_t> Interpreter::valueAtEntry(ExprId id) {
  Dag dag;
  int64_t value = 0;
  Status status = runAtEntry(Rank{0}, dag, [&](const Decl &) {
    value = failed_ ? 0 : eval(id);
    if (!failed_ && program_.expr(id).type == ValueType::Tree)
      value = rootOf(trees_[value], program_.expr(id).loc);
  });
  if (!status)
    return status;
  return value;
}

} // namespace colldsl
