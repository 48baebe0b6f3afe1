#include "transports/routed/RoutedEndpoint.h"

#include "transports/routed/RoutedChannels.h"

#include <algorithm>

namespace colldsl::routed {
namespace {

// Of the parts that a rank does not sleep on there may be news.
constexpr std::chrono::nanoseconds kNap = std::chrono::microseconds(50);

/// What all parts can do.
Caps commonCaps(const std::vector<Endpoint *> &parts) {
  Caps common = parts.front()->caps();
  for (const Endpoint *part : parts) {
    const Caps &caps = part->caps();
    common.maxInlineBytes = std::min(common.maxInlineBytes, caps.maxInlineBytes);
    common.eagerBytes = std::min(common.eagerBytes, caps.eagerBytes);
    if (caps.slotsPerEdge != 0 &&
        (common.slotsPerEdge == 0 || caps.slotsPerEdge < common.slotsPerEdge))
      common.slotsPerEdge = caps.slotsPerEdge;
    common.headOfLine |= caps.headOfLine;
    common.canRead &= caps.canRead;
    common.inOrderCommit &= caps.inOrderCommit;
    common.opensAlone &= caps.opensAlone;
    common.gathers |= caps.gathers;
    common.mustBePolled &= caps.mustBePolled;
    common.patience.looks = std::max(common.patience.looks, caps.patience.looks);
    common.patience.yielding = std::max(common.patience.yielding, caps.patience.yielding);
  }
  common.name = "routed";
  return common;
}

} // namespace

RoutedEndpoint::RoutedEndpoint(std::vector<Endpoint *> parts, std::vector<uint8_t> partOf,
                               uint8_t network)
    : parts_(std::move(parts)), partOf_(std::move(partOf)), network_(network),
      caps_(commonCaps(parts_)) {
  auto wakes =
      std::find_if(parts_.begin(), parts_.end(), [](auto *p) { return !p->caps().mustBePolled; });
  sleeper_ = wakes == parts_.end() ? parts_.front() : *wakes;
}

Status RoutedEndpoint::checkPeers(std::span<const EdgeSpec> edges) const {
  for (const EdgeSpec &edge : edges)
    if (index(edge.peer) >= numRanks())
      return Status::error("there is no rank " + std::to_string(index(edge.peer)) + " among " +
                           std::to_string(numRanks()));
  return {};
}

// The last part is open on all ranks only if this one is ready. Once one is not, this rank refuses
// those behind it, so that nobody waits for it there.
Result<std::unique_ptr<Channels>> RoutedEndpoint::open(const OpenRequest &request) {
  std::unique_ptr<RoutedChannels> channels;
  Status own = checkPeers(request.out);
  if (own)
    own = checkPeers(request.in);
  if (own)
    channels = std::make_unique<RoutedChannels>(*this, request);
  for (Endpoint *part : parts_) {
    if (!own) {
      part->refuse(own.message());
      continue;
    }
    part->whileOpening(whileOpening_);
    OpenRequest next = channels->nextRequest(request);
    next.ready = [&](Channels &opened) {
      channels->lend(opened);
      return part == parts_.back() && request.ready ? request.ready(*channels) : Status();
    };
    Result<std::unique_ptr<Channels>> opened = part->open(next);
    if (opened)
      channels->give(opened.take());
    else
      own = opened.status();
  }
  if (own)
    return std::unique_ptr<Channels>(std::move(channels));
  if (channels) {
    channels->takeBack();
    channels->abort({rank(), kNoOp, own.message(), own.kind()});
  }
  return own;
}

void RoutedEndpoint::refuse(const std::string &reason) {
  for (Endpoint *part : parts_)
    part->refuse(reason);
}

void RoutedEndpoint::sleep(SleepTicket ticket, std::chrono::nanoseconds atMost) {
  sleeper_->sleep(ticket, parts_.size() == 1 ? atMost : std::min(atMost, kNap));
}

} // namespace colldsl::routed
