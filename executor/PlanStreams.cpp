// Runs that follow streams of the caller, and streams that follow runs.
#include "executor/Plan.h"

#include "ir/Concat.h"

namespace colldsl {

Status Plan::orderWith(const device::CudaDriver &driver, device::CuStream stream) {
  Result<device::CuContext> context = device::contextOfStream(driver, stream);
  if (!context)
    return context.status();
  if (order_ && order_->context() == *context)
    return {};
  if (order_ && running())
    return Status::error("the streams of a run are of different contexts");
  auto order = device::StreamOrder::open(driver, *context);
  if (!order)
    return order.status();
  order_ = order.take();
  lastCapture_.reset();
  noteWatched();
  return {};
}

// The channels start when the stream has come to the mark: from then on the other ranks may write
// to the buffers.
Status Plan::startOnStream(const device::CudaDriver &driver, device::CuStream stream) {
  auto captured = device::captureOf(driver, stream);
  if (!captured)
    return captured.status();
  if (*captured)
    return capture(driver, stream, **captured);
  if (Status s = mayStart(); !s)
    return s;
  lock_.lock();
  Status s = orderWith(driver, stream);
  if (s)
    s = order_->mark(stream);
  if (s) {
    awaitsMark_ = true;
    engine_.calcBegins(); // no event ends a sleep when the mark is reached
    state_.store(State::Running, std::memory_order_relaxed);
    advance();
    s = status();
  }
  lock_.unlock();
  return s;
}

// Called with the lock, as a run must not end between the look at it and the wait.
Status Plan::waitOnStream(const device::CudaDriver &driver, device::CuStream stream) {
  auto captured = device::captureOf(driver, stream);
  if (!captured)
    return captured.status();
  if (*captured)
    return followCapture(stream, **captured);
  lock_.lock();
  Status s = status();
  if (running()) {
    s = orderWith(driver, stream);
    if (s)
      s = order_->follow(stream);
  }
  lock_.unlock();
  return s;
}

// True: the run has begun.
bool Plan::passMark() {
  Result<bool> reached = order_->reached();
  if (reached && !*reached)
    return false;
  if (!reached) {
    failHere({engine_.endpoint().rank(), kNoOp,
              concat("the stream before the run failed: ", reached.message())});
    return false;
  }
  endMark();
  if (Status s = graphIsRunning(); !s) {
    failHere({engine_.endpoint().rank(), kNoOp, s.message()});
    return false;
  }
  channels_->start();
  if (channels_->failed()) {
    failHere(channels_->fault());
    return false;
  }
  lineAt_ = 0;
  leaveLine();
  return true;
}

void Plan::endMark() {
  if (std::exchange(awaitsMark_, false))
    engine_.calcEnds();
}

} // namespace colldsl
