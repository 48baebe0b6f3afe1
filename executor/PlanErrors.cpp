#include "executor/Plan.h"

#include "ir/Concat.h"

namespace colldsl {
namespace {

const char *direction(OpKind kind) { return sendsMessage(kind) ? " to rank " : " from rank "; }

SourceLoc locOf(const ImageOp &op) {
  return {static_cast<uint32_t>(op.line), static_cast<uint16_t>(op.column),
          static_cast<uint16_t>(op.file)};
}

} // namespace

std::string Plan::nameOf(OpId id) const {
  const ImageOp &op = view_.ops[index(id)];
  std::string name = concat("op ", index(id), " (", spelling(op.kind));
  if (travels(op))
    name += direction(op.kind) + std::to_string(index(op.peer));
  return name + ")";
}

// Names this rank's op that cannot finish because of the fault.
Status Plan::describe(const Fault &fault) const {
  OpId op = fault.op;
  if (op == kNoOp && fault.peer != kNoRank)
    op = channels_->openOp(fault.peer);
  if (op == kNoOp)
    return Status::error(fault.kind, fault.reason);
  return Status::error(fault.kind,
                       concat(fault.reason, ": rank ", index(engine_.endpoint().rank()),
                              " cannot finish ", nameOf(op)),
                       locOf(view_.ops[index(op)]));
}

// May end registrations of device memory, for which a network's library may call the driver.
void Plan::cancelMessages() {
  std::optional<device::CurrentContext> current;
  if (stage_ && stage_->context())
    current.emplace(stage_->driver(), stage_->context());
  channels_->cancel();
}

// Requests are cancelled before the state changes: a caller that sees the plan failed may reuse its
// buffers.
void Plan::failWith(Status error) {
  if (failed())
    return;
  endCalc();
  cancelMessages();
  if (stage_)
    stage_->cancel();
  endMark();
  if (order_ && running())
    order_->complete(true);
  if (stage_) {
    stage_->end();
    stage_->releaseGraphs();
  }
  error_ = std::move(error);
  state_.store(State::Failed, std::memory_order_release);
  noteCopies();
  engine_.endpoint().wake();
}

// Fails the plan for a reason that the other ranks do not know yet.
void Plan::failHere(Fault fault) {
  Status error = describe(fault);
  fault.reason = error.message();
  channels_->abort(fault);
  failWith(std::move(error));
}

void Plan::timeOut(std::chrono::nanoseconds timeout) {
  OpId op = channels_->openOp(kNoRank);
  Rank peer = op == kNoOp ? kNoRank : view_.ops[index(op)].peer;
  timedOut_ = true;
  double seconds = std::chrono::duration<double>(timeout).count();
  failHere({peer, op,
            concat("timed out after ", seconds, " s",
                   awaitsMark_ ? ", before a stream came to the start of the run" : ""),
            ErrorKind::TimedOut});
}

} // namespace colldsl
