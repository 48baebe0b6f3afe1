// The part of a plan that moves its ops on a device.
#include "executor/Plan.h"

#include <array>

namespace colldsl {

// Ops that touch cells on their way wait for them, others overtake.
OpId Plan::nextOnStage() {
  if (!stage_)
    return wavefront_.pop();
  if (releasedHead_ < released_.size())
    return released_[releasedHead_++];
  for (OpId op; (op = wavefront_.pop()) != kNoOp;)
    if (stage_->admit(op))
      return op;
  return kNoOp;
}

// True: work of the device has finished.
bool Plan::pollStage() {
  if (!stage_)
    return false;
  finished_.clear();
  bool moved = stage_->poll(released_, finished_);
  for (OpId op : finished_) {
    if (!running())
      break;
    if (stage_->messages().travels(op))
      moveOnDevice(op);
    else
      finishOnDevice(op);
  }
  if (const auto &failure = stage_->failure())
    failHere({engine_.endpoint().rank(), failure->op, failure->status.message()});
  else
    noteCopies();
  return moved;
}

// The end of a copy is no event that ends a sleep.
void Plan::noteCopies() {
  bool areUnderWay = running() && stage_ && stage_->anyUnderWay();
  if (areUnderWay == areCopiesUnderWay_)
    return;
  areCopiesUnderWay_ = areUnderWay;
  areUnderWay ? engine_.calcBegins() : engine_.calcEnds();
}

// False: the op starts as one of a plan without device memory.
bool Plan::startOnStage(OpId op) {
  if (stage_->direct().isHeld(op)) {
    stage_->direct().release(op);
    channels_->sendFromHost(steps_[op].slot);
  } else if (stage_->isOnDevice(op)) {
    startOnDevice(op);
  } else {
    return false;
  }
  return true;
}

void Plan::startOnDevice(OpId op) {
  using Phase = DeviceMessages::Phase;
  const Step &step = steps_[op];
  wavefront_.start(op);
  noteStarted(op);
  if (stage_->takeDone(op))
    return finishOnDevice(op);
  if (step.kind == Step::Kind::Combine && step.pieceCount == 1)
    return startCombines(op);
  if (step.isLocal())
    return stage_->beginOnDevice(op, steps_);
  if (stage_->direct().travels(op))
    return startDirect(op);
  DeviceMessages &messages = stage_->messages();
  if (step.kind == Step::Kind::Send && !messages.isPacked(op))
    return offer(op);
  if (step.kind == Step::Kind::Send) {
    messages.phaseOf(op) = Phase::Packs;
    return stage_->beginOnDevice(op, steps_);
  }
  messages.phaseOf(op) = Phase::Awaits;
  holdMessages();
  noteOnDevice(op, channels_->recv(step.slot, op, messages.offerOf(op)));
}

// Combines that wait for nothing but each other are one piece of work.
void Plan::startCombines(OpId op) {
  std::array<OpId, device::kMaxSources> chain;
  size_t length = 0;
  for (OpId next = op; next != kNoOp && length < chain.size();) {
    chain[length++] = next;
    next = continuationOf(next);
  }
  stage_->beginCombines(std::span(chain).first(length), steps_);
}

OpId Plan::continuationOf(OpId op) const {
  const ImageOp &image = view_.ops[index(op)];
  for (uint32_t next : view_.successors.subspan(image.successorBegin, image.requireCount))
    if (wavefront_.waitsForOne(OpId{next}) && stage_->continues(OpId{next}, op, steps_))
      return OpId{next};
  return kNoOp;
}

// The answer may come before the offer is reported as sent.
void Plan::offer(OpId op) {
  DeviceMessages &messages = stage_->messages();
  messages.offered(op);
  stage_->noteOffer(op);
  holdMessages();
  noteOnDevice(op, channels_->recv(*edges_.answers[index(op)], op, messages.answerOf(op)));
  if (running())
    noteOnDevice(op, channels_->send(steps_[op].slot, op, messages.offerOf(op)));
}

void Plan::finishOnDevice(OpId op) {
  wavefront_.finish(op);
  noteFinished(op);
}

void Plan::noteOnDevice(OpId op, Posted posted) {
  if (posted == Posted::Done)
    moveOnDevice(op);
  else if (posted == Posted::Failed)
    failHere(channels_->fault());
}

void Plan::startDirect(OpId op) {
  const Step &step = steps_[op];
  DevicePayload &device = stage_->direct().payloadOf(op);
  holdMessages();
  Posted posted = step.kind == Step::Kind::Send
                      ? channels_->sendFromDevice(step.slot, op, step.payload, device)
                      : channels_->recvIntoDevice(step.slot, op, step.payload, device);
  if (posted == Posted::Done)
    finishDirect(op);
  else if (posted == Posted::Failed)
    failHere(channels_->fault());
}

// A held send goes on once its bytes are on the host: startOnStage() finds it then.
void Plan::reapDirect(const Completion &completion) {
  OpId op = completion.op;
  if (!completion.awaitsHost)
    return finishDirect(op);
  stage_->direct().hold(op);
  if (stage_->admit(op))
    released_.push_back(op);
}

void Plan::finishDirect(OpId op) {
  if (steps_[op].kind == Step::Kind::Recv)
    if (Status s = stage_->receive(op); !s)
      return failHere({engine_.endpoint().rank(), op, s.message()});
  finishOnDevice(op);
}

// Called when what a message on the device waited for is done.
void Plan::moveOnDevice(OpId op) {
  using Phase = DeviceMessages::Phase;
  DeviceMessages &messages = stage_->messages();
  Phase &phase = messages.phaseOf(op);
  switch (phase) {
  case Phase::Packs:
    return offer(op);
  case Phase::Offered:
    if (messages.countDone(op)) {
      stage_->noteAnswer(op);
      finishOnDevice(op);
    }
    return;
  case Phase::Awaits:
    phase = Phase::Copies;
    return stage_->beginOnDevice(op, steps_);
  case Phase::Copies:
    // A sender that fails has its memory back, and reports that before.
    if (!channels_->check())
      return failWith(describe(channels_->fault()));
    messages.close(op);
    phase = Phase::Answers;
    holdMessages();
    return noteOnDevice(op, channels_->send(*edges_.answers[index(op)], op, messages.answerOf(op)));
  case Phase::Answers:
    return finishOnDevice(op);
  case Phase::None:
    return;
  }
}

} // namespace colldsl
