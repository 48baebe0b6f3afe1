#include "device/StreamOrder.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace colldsl::device {
namespace {

constexpr std::chrono::seconds kLongestDrain{1};

} // namespace

Result<CuContext> contextOfStream(const CudaDriver &driver, CuStream stream) {
  CuContext context = nullptr;
  if (Status s = checkCuda(driver, driver.streamGetCtx(stream, &context), "cuStreamGetCtx"); !s)
    return s;
  return context;
}

Result<std::unique_ptr<StreamOrder>> StreamOrder::open(const CudaDriver &driver,
                                                       CuContext context) {
  std::unique_ptr<StreamOrder> order(new StreamOrder(driver, context));
  if (Status s = order->makeEvent(order->marked_); !s)
    return s;
  return order;
}

Status StreamOrder::makeEvent(CuEvent &event) {
  CurrentContext current(driver_, context_);
  return checkCuda(driver_, driver_.eventCreate(&event, kEventWithoutTiming), "cuEventCreate");
}

Status StreamOrder::openWord() {
  if (!driver_.streamWaitValue32)
    return Status::error("the driver of CUDA is too old for streams that wait for a plan: it has "
                         "no function cuStreamWaitValue32_v2");
  auto word = LockedWords::open(driver_, context_);
  if (!word)
    return word.status();
  word_ = word.take();
  word_->store(0, 2 * runs_);
  return {};
}

StreamOrder::~StreamOrder() {
  CurrentContext current(driver_, context_);
  if (!current) // with all that belonged to it
    return;
  if (word_) {
    complete(true);
    auto deadline = std::chrono::steady_clock::now() + kLongestDrain;
    while (!areWaitsOver() && std::chrono::steady_clock::now() < deadline)
      std::this_thread::yield();
    if (isLost_ || !areWaitsOver()) {
      word_->abandon();
      return;
    }
  }
  for (CuEvent event : waits_)
    driver_.eventDestroy(event);
  for (CuEvent event : {marked_, captured_})
    if (event)
      driver_.eventDestroy(event);
}

// The wait of a stream that failed is over.
bool StreamOrder::areWaitsOver() {
  return std::none_of(waits_.begin(), waits_.end(),
                      [&](CuEvent event) { return driver_.eventQuery(event) == kCudaNotReady; });
}

Status StreamOrder::mark(CuStream stream) {
  CurrentContext current(driver_, context_);
  return checkCuda(driver_, driver_.eventRecord(marked_, stream), "cuEventRecord");
}

Result<bool> StreamOrder::reached() {
  CurrentContext current(driver_, context_);
  CuResult result = driver_.eventQuery(marked_);
  if (result == kCudaNotReady)
    return false;
  if (Status s = checkCuda(driver_, result, "cuEventQuery"); !s)
    return s;
  return true;
}

Status StreamOrder::follow(CuStream stream) {
  if (!word_)
    if (Status s = openWord(); !s)
      return s;
  CurrentContext current(driver_, context_);
  auto free = std::find_if(waits_.begin(), waits_.end(), [&](CuEvent event) {
    return driver_.eventQuery(event) == kCudaSuccess;
  });
  if (free == waits_.end()) {
    CuEvent event = nullptr;
    if (Status s = makeEvent(event); !s)
      return s;
    free = waits_.insert(free, event);
  }
  if (!run_)
    run_.emplace(*opened_);
  if (Status s = checkCuda(
          driver_, driver_.streamWaitValue32(stream, word(), 2 * (runs_ + 1), kWaitValueGeq),
          "cuStreamWaitValue32");
      !s)
    return s;
  Status s = checkCuda(driver_, driver_.eventRecord(*free, stream), "cuEventRecord");
  isLost_ = isLost_ || !s;
  return s;
}

void StreamOrder::complete(bool failed) {
  ++runs_;
  if (word_)
    word_->store(0, 2 * runs_ + (failed ? 1 : 0));
  run_.reset();
}

Status StreamOrder::markCapture(CuStream stream) {
  CurrentContext current(driver_, context_);
  if (!captured_)
    if (Status s = makeEvent(captured_); !s)
      return s;
  return checkCuda(driver_, driver_.eventRecord(captured_, stream), "cuEventRecord");
}

Status StreamOrder::followCapture(CuStream stream) {
  CurrentContext current(driver_, context_);
  return checkCuda(driver_, driver_.streamWaitEvent(stream, captured_, 0), "cuStreamWaitEvent");
}

Result<std::optional<uint64_t>> captureOf(const CudaDriver &driver, CuStream stream) {
  if (!driver.streamGetCaptureInfo)
    return std::optional<uint64_t>();
  int status = kCaptureNone;
  uint64_t id = 0;
  if (Status s = checkCuda(
          driver, driver.streamGetCaptureInfo(stream, &status, &id, nullptr, nullptr, nullptr),
          "cuStreamGetCaptureInfo");
      !s)
    return s;
  if (status == kCaptureNone)
    return std::optional<uint64_t>();
  if (status != kCaptureActive)
    return Status::error("the capture of the stream is invalid");
  return std::optional(id);
}

} // namespace colldsl::device
