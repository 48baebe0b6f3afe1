#include "device/StreamOrder.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <sys/mman.h>
#include <thread>

namespace colldsl::device {
namespace {

constexpr size_t kPageBytes = 4096;
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
  if (!driver.streamWaitValue32)
    return Status::error("the driver of CUDA is too old for streams that wait for a plan: it has "
                         "no function cuStreamWaitValue32_v2");
  std::unique_ptr<StreamOrder> order(new StreamOrder(driver, context));
  if (Status s = order->lockWord(); !s)
    return s;
  if (Status s = order->makeEvent(order->marked_); !s)
    return s;
  return order;
}

// On a page of its own, as pages are locked.
Status StreamOrder::lockWord() {
  void *page =
      mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED)
    return Status::error(ErrorKind::NoMemory, "no memory for a word that streams wait for");
  CurrentContext current(driver_, context_);
  Status s = checkCuda(
      driver_, driver_.memHostRegister(page, kPageBytes, kRegisterPortable | kRegisterDeviceMap),
      "cuMemHostRegister");
  if (!s) {
    munmap(page, kPageBytes);
    return s;
  }
  word_ = static_cast<uint32_t *>(page);
  return checkCuda(driver_, driver_.memHostGetDevicePointer(&wordThere_, page, 0),
                   "cuMemHostGetDevicePointer");
}

Status StreamOrder::makeEvent(CuEvent &event) {
  CurrentContext current(driver_, context_);
  return checkCuda(driver_, driver_.eventCreate(&event, kEventWithoutTiming), "cuEventCreate");
}

StreamOrder::~StreamOrder() {
  CurrentContext current(driver_, context_);
  if (word_) {
    complete(true);
    auto deadline = std::chrono::steady_clock::now() + kLongestDrain;
    while (!areWaitsOver() && std::chrono::steady_clock::now() < deadline)
      std::this_thread::yield();
    if (isLost_ || !areWaitsOver())
      return;
    driver_.memHostUnregister(word_);
    munmap(word_, kPageBytes);
  }
  for (CuEvent event : waits_)
    driver_.eventDestroy(event);
  if (marked_)
    driver_.eventDestroy(marked_);
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
          driver_, driver_.streamWaitValue32(stream, wordThere_, 2 * (runs_ + 1), kWaitValueGeq),
          "cuStreamWaitValue32");
      !s)
    return s;
  Status s = checkCuda(driver_, driver_.eventRecord(*free, stream), "cuEventRecord");
  isLost_ = isLost_ || !s;
  return s;
}

// Stores of this thread, and of others that it has seen, come before the word.
void StreamOrder::complete(bool failed) {
  std::atomic_ref(*word_).store(2 * ++runs_ + (failed ? 1 : 0), std::memory_order_release);
  run_.reset();
}

} // namespace colldsl::device
