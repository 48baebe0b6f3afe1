#include "mpi/operations/RelayedExchange.h"

#include "ir/Concat.h"
#include "transports/Pieces.h"

#include <algorithm>

namespace colldsl::mpi {
namespace {

constexpr BufferId kSent{0}, kReceived{1};

Payload payloadOf(const FarMessage &message) {
  return {.pieces = message.pieces.data(),
          .count = static_cast<uint32_t>(message.pieces.size()),
          .bytes = message.bytes};
}

} // namespace

RelayedExchange::RelayedExchange(std::shared_ptr<PlanGroup> plans,
                                 std::shared_ptr<const GraphExchange> way, bool sendsSame)
    : plans_(std::move(plans)), way_(std::move(way)), sendsSame_(sendsSame),
      sent_((sendsSame ? 1 : way_->to.size()) * way_->capacityBytes),
      received_(way_->from.size() * way_->capacityBytes) {}

/// Null: there is no such message, or it goes straight.
const FarMessage *RelayedExchange::find(const std::vector<FarMessage> &messages,
                                        uint32_t peer) const {
  auto at = std::lower_bound(messages.begin(), messages.end(), Rank{peer},
                             [](const FarMessage &m, Rank wanted) { return m.peer < wanted; });
  bool isThere = at != messages.end() && at->peer == Rank{peer};
  return isThere && at->bytes <= way_->capacityBytes ? &*at : nullptr;
}

Status RelayedExchange::open(const std::vector<FarMessage> &out) {
  Binding binding;
  binding.elements = way_->capacityBytes;
  binding.buffers = {BoundBuffer::in(sent_.data(), sent_.size()),
                     {received_.data(), received_.size()}};
  binding.blocks.resize(1);
  std::vector<uint64_t> &lengths = binding.blocks[index(kSent)].length;
  for (uint32_t peer : way_->to) {
    const FarMessage *message = find(out, peer);
    lengths.push_back(message ? message->bytes : 0);
  }
  if (sendsSame_)
    lengths.resize(1);
  auto plan = Plan::open(plans_->communicator().engine(), way_->schedule.view(),
                         way_->schedule.sizeClass(), binding);
  if (!plan)
    return plan.status();
  plan_ = plan.take();
  return {};
}

void RelayedExchange::copyIn(const std::vector<FarMessage> &out) {
  size_t blocks = std::min<size_t>(way_->to.size(), sendsSame_ ? 1 : way_->to.size());
  for (size_t i = 0; i < blocks; ++i)
    if (const FarMessage *message = find(out, way_->to[i]))
      colldsl::gather(blockAt(sent_, i), payloadOf(*message), 0, message->bytes);
}

Status RelayedExchange::start(uint32_t number, const std::vector<FarMessage> &out) {
  plans_->numberNextRun(number);
  if (!plan_)
    if (Status s = open(out); !s)
      return refuse(number, s);
  run_ = number;
  isUnderWay_ = true;
  plans_->begin(number);
  copyIn(out);
  Status s = plan_->start();
  if (!s)
    cancel();
  return s;
}

Status RelayedExchange::refuse(uint32_t number, const Status &why) {
  plans_->begin(number);
  plans_->communicator().engine().endpoint().refuse(why.message());
  plans_->end(number);
  return why;
}

void RelayedExchange::end() {
  if (std::exchange(isUnderWay_, false))
    plans_->end(run_);
}

// A message without bytes here is dropped, as if it had gone straight.
Status RelayedExchange::deliver(const FarMessage &message, size_t block) const {
  uint64_t bytes = plan_->blockLengths(kReceived)[block];
  if (bytes != message.bytes)
    return message.bytes == 0
               ? Status()
               : Status::error(ErrorKind::Truncated,
                               concat("rank ", index(message.peer), " of the communicator sent ",
                                      bytes, " bytes where ", message.bytes, " were expected"));
  scatter(payloadOf(message), 0, received_.data() + block * way_->capacityBytes, bytes);
  return {};
}

Status RelayedExchange::finish(const std::vector<FarMessage> &in) {
  end();
  if (Status s = plan_->status(); !s) {
    plan_.reset();
    return s;
  }
  Status outcome;
  for (size_t i = 0; i < way_->from.size(); ++i)
    if (const FarMessage *message = find(in, way_->from[i]))
      if (Status s = deliver(*message, i); !s && outcome)
        outcome = s;
  return outcome;
}

void RelayedExchange::cancel() {
  if (!isUnderWay_)
    return;
  plan_.reset();
  end();
}

} // namespace colldsl::mpi
