#include "executor/GraphWords.h"

#include "ir/Concat.h"

namespace colldsl {

using device::CurrentContext;
using device::Lane;

namespace {

constexpr std::chrono::seconds kLongestClear{10};
constexpr uint64_t kReleased = uint64_t{1} << 32, kSignalled = 1;

const char *missingCall(const device::CudaDriver &driver) {
  return !driver.streamGetCaptureInfo ? "cuStreamGetCaptureInfo_v2"
         : !driver.streamWriteValue32 ? "cuStreamWriteValue32_v2"
         : !driver.streamWaitValue32  ? "cuStreamWaitValue32_v2"
         : !driver.streamWaitValue64  ? "cuStreamWaitValue64_v2"
                                      : nullptr;
}

} // namespace

Status GraphWords::reserve(const DeviceAreas &areas, device::AsyncWork &work, size_t count) {
  status_ = make(areas, work, count);
  return work.anyUnderWay() ? status_ : Status();
}

Status GraphWords::make(const DeviceAreas &areas, device::AsyncWork &work, size_t count) {
  driver_ = &areas.driver();
  if (const char *call = missingCall(*driver_))
    return Status::error(
        concat("the driver of CUDA is too old for graphs: it has no function ", call));
  const uint64_t bytes = count * sizeof(uint64_t);
  if (bytes > memory_.bytes() || areas.context() != context_)
    count_ = 0;
  context_ = areas.context();
  if (!memory_.reserve(*driver_, context_, bytes))
    return Status::error(ErrorKind::NoMemory, "no device memory for the words of graphs");
  if (count <= count_)
    return {};
  if (Status s = clear(work, count); !s)
    return s;
  auto running = device::LockedWords::open(*driver_, context_);
  if (!running)
    return running.status();
  auto exported =
      device::exportMemory(*driver_, reinterpret_cast<const void *>(memory_.address()), bytes);
  if (!exported)
    return exported.status();
  running_ = running.take();
  exported_ = *exported;
  count_ = count;
  return {};
}

Status GraphWords::clear(device::AsyncWork &work, size_t count) const {
  CurrentContext current(*driver_, context_);
  Status added = addClear(work.begin(Lane::Within), count);
  Status ended = work.end(Lane::Within, 0);
  if (!work.drain(kLongestClear))
    return Status::error("the device stands still");
  return added ? ended : added;
}

// Also finds out whether the device waits for words of 64 bits: a wait that nothing has to end.
Status GraphWords::addClear(device::CuStream stream, size_t count) const {
  const size_t halves = count * sizeof(uint64_t) / sizeof(uint32_t);
  Status s = checkCuda(*driver_, driver_->memsetD32Async(memory_.address(), 0, halves, stream),
                       "cuMemsetD32Async");
  return s ? checkCuda(
                 *driver_,
                 driver_->streamWaitValue64(stream, memory_.address(), 0, device::kWaitValueGeq),
                 "cuStreamWaitValue64")
           : s;
}

ExportedWord GraphWords::exported(size_t i) const {
  ExportedWord word{exported_, status_.ok()};
  word.memory.offset += i * sizeof(uint64_t);
  return word;
}

Status GraphWords::addWait(device::CuStream stream, size_t i) const {
  Status s = checkCuda(*driver_,
                       driver_->streamWaitValue64(stream, addressOf(i), kReleased | kSignalled,
                                                  device::kWaitValueAnd),
                       "cuStreamWaitValue64");
  return s ? checkCuda(
                 *driver_,
                 driver_->streamWriteValue32(stream, addressOf(i), 0, device::kWriteValueDefault),
                 "cuStreamWriteValue32")
           : s;
}

Status GraphWords::addSignal(device::CuStream stream, device::DeviceAddress word) const {
  return checkCuda(
      *driver_, driver_->streamWriteValue32(stream, word, kSignalled, device::kWriteValueDefault),
      "cuStreamWriteValue32");
}

Status GraphWords::addRunning(device::CuStream stream, uint32_t value) const {
  return checkCuda(*driver_,
                   driver_->streamWriteValue32(stream, running_->addressOf(0), value,
                                               device::kWriteValueDefault),
                   "cuStreamWriteValue32");
}

void GraphWords::release(device::AsyncWork &work) {
  if (!status_ || std::exchange(isReleased_, true))
    return;
  CurrentContext current(*driver_, context_);
  for (size_t i = 0; i < count_; ++i)
    driver_->streamWriteValue32(work.begin(Lane::ToHost), addressOf(i) + sizeof(uint32_t), 1,
                                device::kWriteValueDefault);
  (void)work.end(Lane::ToHost, 0); // without its event the memory is never freed
}

Status GraphWords::addWaitForEnd(device::AsyncWork &work) const {
  CurrentContext current(*driver_, context_);
  Status s = checkCuda(*driver_,
                       driver_->streamWaitValue32(work.begin(Lane::ToHost), running_->addressOf(0),
                                                  0, device::kWaitValueEq),
                       "cuStreamWaitValue32");
  return s ? work.end(Lane::ToHost, 0) : s;
}

void GraphWords::abandon(bool isRunning) {
  memory_.abandon();
  if (running_ && isRunning)
    running_->abandon();
}

} // namespace colldsl
