#include "executor/Exchange.h"

namespace colldsl {
namespace {

// From here on a message in shared memory is a rendezvous where ranks share cores: its sender waits
// for the receiver to get a core.
constexpr uint64_t kSharedOnSharedCores = 16 << 10;

} // namespace

void Exchange::copy(std::span<const iovec> targets, std::span<const iovec> sources) {
  addCopies(copies_, targets, sources);
}

void Exchange::repeat(std::span<const iovec> targets, std::span<const iovec> sources) {
  addCopies(repeats_, targets, sources);
}

// Adds copies that are cut at the union of the borders of both lists.
void Exchange::addCopies(std::vector<LocalCopy> &copies, std::span<const iovec> targets,
                         std::span<const iovec> sources) {
  size_t t = 0, s = 0;
  uint64_t tDone = 0, sDone = 0;
  while (t < targets.size() && s < sources.size()) {
    uint64_t tLeft = targets[t].iov_len - tDone, sLeft = sources[s].iov_len - sDone;
    uint64_t bytes = std::min(tLeft, sLeft);
    if (bytes > 0)
      copies.push_back({static_cast<std::byte *>(targets[t].iov_base) + tDone,
                        static_cast<const std::byte *>(sources[s].iov_base) + sDone, bytes});
    tDone = bytes == tLeft ? (++t, 0) : tDone + bytes;
    sDone = bytes == sLeft ? (++s, 0) : sDone + bytes;
  }
}

void Exchange::prepare(End &end) {
  end.request.tag = progress_->stream();
  end.request.payload = {end.pieces.data(), static_cast<uint32_t>(end.pieces.size()), false, false,
                         bytesOf(end.pieces)};
  end.request.counter = &counter_;
}

Status Exchange::seal() {
  uint64_t copiedBytes = 0;
  for (const LocalCopy &copy : copies_)
    copiedBytes += copy.bytes;
  for (auto *ends : {&sends_, &recvs_}) {
    std::erase_if(*ends, [](const End &end) { return end.pieces.empty(); });
    for (End &end : *ends) {
      prepare(end);
      copiedBytes += end.request.payload.bytes;
    }
  }
  counter_.copyKiB = static_cast<uint32_t>(std::min<uint64_t>(copiedBytes >> 10, UINT32_MAX));
  counter_.sendsOnly = recvs_.empty();
  for (End &end : sends_) {
    end.sends = worker_.sendsTo(end.peer);
    if (!end.sends)
      return protocol::noMemoryFor(end.peer);
  }
  for (End &end : recvs_)
    end.receives = &worker_.receivesFrom(end.peer);
  chooseProtocols();
  return {};
}

// Rendezvous is chosen where a single copy pays: all ranks copy all the time, so one copy less is
// worth more than a sender that continues at once. Shared memory is copied without the kernel.
void Exchange::chooseProtocols() {
  const uint64_t sharedFrom = worker_.world().sharesCores()
                                  ? kSharedOnSharedCores
                                  : uint64_t{worker_.options().fifo.slotsBytes} + 1;
  for (End &end : sends_) {
    const RequestPayload &payload = end.request.payload;
    bool isShared = shm::remoteBufferOf(worker_.world(), payload).isShared;
    bool paysOff = isShared ? payload.bytes >= sharedFrom
                            : end.sends->wire().canReach() &&
                                  worker_.options().isWorthSingleCopy(payload.bytes, payload.count);
    end.request.protocol = paysOff ? Protocol::Rendezvous : Protocol::Any;
  }
}

// Answers mostly arrive within the spin budget. A peer that is later, or queued behind another one,
// is awaited in the ordinary way.
bool Exchange::recvNow() {
  for (uint32_t polls = worker_.spinBudget().pollsInRow; received_ < recvs_.size();) {
    End &end = recvs_[received_];
    bool mayCome = end.receives->isIdle();
    if (end.receives->tryRecv(end.request))
      ++received_;
    else if (!mayCome || --polls == 0)
      return false;
  }
  return true;
}

void Exchange::post() {
  isDeferred_ = false;
  for (; received_ < recvs_.size(); ++received_)
    recvs_[received_].receives->recv(recvs_[received_].request);
  if (counter_.outstanding == 0)
    return;
  isProbing_ = true;
  worker_.addProbe(*this);
}

void Exchange::endProbing() {
  isProbing_ = false;
  worker_.removeProbe(*this);
}

Status Exchange::recvLater() {
  post();
  Status s = worker_.wait(counter_);
  if (!s)
    cancel();
  else if (isProbing_)
    endProbing();
  return s;
}

// A peer that has ended the run has sent all its messages, and this rank has them after a poll; the
// peer has received all that it wanted. Requests that are still open never complete.
void Exchange::probe() {
  for (auto *ends : {&sends_, &recvs_})
    for (End &end : *ends) {
      if (counter_.outstanding == 0 || !worker_.progressTable()->isOver(end.peer, end.request.tag))
        continue;
      worker_.progress();
      uint32_t cancelled = counter_.outstanding == 0 ? 0 : worker_.cancel(counter_, end.peer);
      if (cancelled == 0)
        continue;
      counter_.outstanding -= cancelled;
      end.request.transferred = 0;
      counter_.mismatched = &end.request;
    }
}

Status Exchange::mismatch() const {
  const protocol::Request &wrong = *counter_.mismatched;
  Fault fault = wrong.transferred == 0
                    ? endedWithout(kNoRank, kNoOp, wrong.payload)
                    : sizeMismatch(kNoRank, kNoOp, wrong.payload, wrong.transferred);
  return Status::error(fault.kind, std::move(fault.reason));
}

void Exchange::cancel() {
  if (isDeferred_)
    undefer();
  received_ = recvs_.size();
  if (counter_.outstanding != 0) {
    worker_.cancel(counter_);
    counter_.outstanding = 0;
  }
  endStarted();
}

} // namespace colldsl
