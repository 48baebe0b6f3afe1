#include "transports/shm/ShmEndpoint.h"

#include <algorithm>
#include <thread>

namespace colldsl::shm {

ShmChannels::ShmChannels(ShmEndpoint &endpoint, uint32_t plan)
    : endpoint_(endpoint), plan_(plan), sender_(endpoint.world_),
      receiver_(endpoint.world_, endpoint.singleCopy_) {}

// Of a plan that did not open on all ranks, nobody writes to anybody's memory.
ShmChannels::~ShmChannels() {
  endpoint_.closed(plan_);
  if (!connected_) {
    if (cellBlock_ != Arena::kNoRoom)
      ownChannels_.push_back(cellBlock_);
    endpoint_.release(ownChannels_);
    return;
  }
  cancel();
  receiver_.close();
  sender_.close();
  endpoint_.bury({std::move(ownChannels_), cellBlock_, std::move(sender_.cells())});
}

// Cells as large as the longest eager message; larger ones if longer messages come later.
Status ShmChannels::prepare(const Work &work) {
  const Options &options = endpoint_.world_.options();
  uint64_t lines = (work.maxSendBytes + kLineBytes - 1) / kLineBytes;
  auto cellBytes = static_cast<uint32_t>(std::min<uint64_t>(lines * kLineBytes, options.cellBytes));
  if (work.maxSendBytes <= kInlineBytes || cellBytes <= sender_.cells().cellBytes())
    return {};
  Result<uint64_t> block =
      endpoint_.allocate(CellPool::blockBytes(options.cellsPerPlan, cellBytes));
  if (!block)
    return block.status();
  if (cellBlock_ != Arena::kNoRoom)
    endpoint_.bury({{}, cellBlock_, std::move(sender_.cells())});
  cellBlock_ = *block;
  sender_.cells() = CellPool();
  sender_.cells().init(endpoint_.world_.at(*block), options.cellsPerPlan, cellBytes);
  return {};
}

void ShmChannels::start() {
  ++run_;
  sender_.start(run_);
  receiver_.start(run_);
}

void ShmChannels::forgetTold() {
  if (!told_)
    return;
  done_.clear();
  told_ = false;
}

Posted ShmChannels::send(MessageSlot slot, OpId op, const Payload &payload) {
  return sender_.post(slot, op, payload);
}

Posted ShmChannels::recv(MessageSlot slot, OpId op, const Payload &payload) {
  forgetTold();
  Posted posted = receiver_.post(slot, op, payload, done_);
  if (posted == Posted::Failed)
    failAsReceiver();
  return posted;
}

std::span<const Completion> ShmChannels::poll() {
  forgetTold();
  receiver_.poll(done_);
  sender_.poll(done_);
  if (receiver_.fault().peer != kNoRank)
    failAsReceiver();
  hearNews();
  told_ = true;
  return done_;
}

// If the plan failed elsewhere before, that is the reason for what happens here.
void ShmChannels::failAsReceiver() {
  auto earlier = endpoint_.world_.findAny(plan_);
  fail(earlier ? std::move(*earlier) : receiver_.fault());
}

// Whoever reports something wakes all, but wants no answer: what it was is seen at once.
void ShmChannels::hearNews() {
  uint32_t reports = endpoint_.world_.numReports();
  if (reports == reportsSeen_)
    return;
  reportsSeen_ = reports;
  if (auto fault = endpoint_.world_.findAny(plan_))
    fail(std::move(*fault));
}

bool ShmChannels::check() {
  if (failed())
    return false;
  endpoint_.health_.look();
  if (auto fault = endpoint_.world_.findAny(plan_))
    fail(std::move(*fault));
  else
    checkDeserted();
  return !failed();
}

// A peer that closed the plan, or left, while this rank still needs it.
void ShmChannels::checkDeserted() {
  forgetTold();
  Rank peer = receiver_.findDeserted(done_);
  if (peer == kNoRank)
    peer = sender_.findDeserted(done_);
  if (peer == kNoRank)
    return;
  if (auto fault = endpoint_.world_.findAny(plan_)) // why it left is told before
    fail(std::move(*fault));
  else // others wait for us who do not know that peer
    abort({peer, openOp(peer), "rank " + std::to_string(index(peer)) + " has closed the plan"});
}

// A copy that a peer has begun with ends soon, unless the peer dies.
void ShmChannels::cancel() {
  while (!sender_.cancel()) {
    std::this_thread::yield();
    endpoint_.health_.look();
  }
}

OpId ShmChannels::openOp(Rank peer) const {
  OpId op = receiver_.openOp(peer);
  return op != kNoOp ? op : sender_.openOp(peer);
}

void ShmChannels::abort(const Fault &fault) {
  fail(fault);
  if (endpoint_.world_.findAny(plan_))
    return; // all know already
  endpoint_.world_.report(plan_, fault, true);
}

} // namespace colldsl::shm
