// Plans in CUDA graphs: what of a plan needs the host, and captures.
#include "executor/Plan.h"

#include "ir/Concat.h"

namespace colldsl {

Status Plan::graphIsRunning() const {
  return stage_ && stage_->isGraphRunning() ? Status::error("a graph of the plan is running")
                                            : Status();
}

// Graphs use the memory that a binding may free.
Status Plan::mayBind() {
  if (failed())
    return error_;
  if (running())
    return Status::error("the plan is running");
  lock_.lock();
  Status s = graphIsRunning();
  if (s)
    isCaptured_.store(false, std::memory_order_relaxed);
  lock_.unlock();
  return s;
}

// A graph may have some of the plan after an error, so its failures are looked for all the same.
Status Plan::capture(const device::CudaDriver &driver, device::CuStream stream, uint64_t id) {
  lock_.lock();
  Status s = failed()    ? error_
             : running() ? Status::error("the plan is running")
             : !isBound_ ? Status::error("the plan is not bound")
                         : mayCapture();
  if (s)
    s = hasContextOf(driver, stream);
  if (s)
    s = orderWith(driver, stream);
  if (s) {
    lastCapture_.reset();
    isCaptured_.store(true, std::memory_order_relaxed);
    s = stage_->capture(steps_, stream);
  }
  if (s)
    s = order_->markCapture(stream);
  if (s)
    lastCapture_ = id;
  lock_.unlock();
  return s;
}

// A run under way has no point in the capture that a stream could follow.
Status Plan::followCapture(device::CuStream stream, uint64_t id) {
  lock_.lock();
  Status s = failed() ? error_
             : running()
                 ? Status::error("the stream captures, and the run under way is not part of "
                                 "its capture")
             : isCaptured_.load(std::memory_order_relaxed) && id == lastCapture_
                 ? order_->followCapture(stream)
                 : Status::error("the stream captures, and the plan was not started in its "
                                 "capture, or in another one since, or was bound since");
  lock_.unlock();
  return s;
}

Status Plan::hasContextOf(const device::CudaDriver &driver, device::CuStream stream) const {
  Result<device::CuContext> context = device::contextOfStream(driver, stream);
  if (!context)
    return context.status();
  return *context == stage_->context()
             ? Status()
             : Status::error("the stream that captures and the buffers are of different contexts");
}

Status Plan::mayCapture() const {
  if (!stage_)
    return Status::error("a plan without buffers in device memory cannot be part of a CUDA graph");
  for (uint32_t op = 0; op < view_.ops.size(); ++op)
    if (std::string need = needOfHost(OpId{op}); !need.empty())
      return Status::error(concat("the plan cannot be part of a CUDA graph, as ", nameOf(OpId{op}),
                                  " needs the host: ", need));
  Status s = stage_->mayCapture();
  return s ? s : Status::error(concat("the plan cannot be part of a CUDA graph: ", s.message()));
}

/// Empty: the op is on the device, or does nothing.
std::string Plan::needOfHost(OpId op) const {
  const Step &step = steps_[op];
  if (stage_->isOnDevice(op) && (step.isLocal() || stage_->messages().travels(op)))
    return "";
  if (step.variable)
    return "the lengths of its blocks change from run to run";
  switch (step.kind) {
  case Step::Kind::Nothing:
    return "";
  case Step::Kind::Calc:
    return "it is a time that the host spends";
  case Step::Kind::Send:
  case Step::Kind::Recv:
    return step.payload.bytes == 0 && !step.payload.always ? ""
                                                           : needOfMessage(view_.ops[index(op)]);
  case Step::Kind::Copy:
  case Step::Kind::Combine:
    return step.payload.bytes == 0 ? "" : needOfLocal(op);
  }
  return "";
}

std::string Plan::needOfMessage(const ImageOp &op) const {
  if (!engine_.endpoint().isOnThisMachine(op.peer))
    return "its message leaves the machine";
  if (!DeviceMessages::isEligible(op, engine_.endpoint()))
    return "messages of its kind pass through the host";
  if (edges_.answers.empty())
    return "messages of plans that are not device-only pass through the host";
  return concat("messages of less than ", stage_->binding().deviceMessagesFrom,
                " bytes pass through the host");
}

std::string Plan::needOfLocal(OpId op) const {
  const Step &step = steps_[op];
  std::optional<TypedReduction> combine = steps_.reductionOf(op);
  const bool combines = step.kind == Step::Kind::Combine;
  if (combines && !combine)
    return "its operator is one of the caller's";
  if (combines && !device::Kernels::has(combine->reduction, combine->type))
    return "no kernel has its operator and type";
  for (const LocalPiece &piece : std::span(step.pieces, step.pieceCount))
    if (!stage_->isOfArea(piece.target) || !stage_->isOfArea(piece.source))
      return "an operand is memory of the host";
  return "an operand comes to the host, or its pieces are many and short";
}

} // namespace colldsl
