#include "protocol/HybridEndpoint.h"

#include "protocol/RankGroup.h"

#include <algorithm>
#include <array>

namespace colldsl::protocol {
namespace {

// A rank that sleeps on one part looks at the other one so often.
constexpr std::chrono::nanoseconds kNap = std::chrono::microseconds(50);

/// The capabilities that both parts have; multicast and TCP are those of the remote one.
Caps commonCaps(const Caps &a, const Caps &b) {
  Caps common = a;
  common.name = "hybrid";
  common.bufferedSendBytes = std::min(a.bufferedSendBytes, b.bufferedSendBytes);
  common.opensAlone &= b.opensAlone;
  common.batches |= b.batches;
  common.mustBePolled &= b.mustBePolled;
  common.sharesCores = false;
  common.transfers.multicast = b.transfers.multicast;
  common.tcp = b.tcp;
  common.spinBudget.polls = std::max(a.spinBudget.polls, b.spinBudget.polls);
  common.spinBudget.yielding = std::max(a.spinBudget.yielding, b.spinBudget.yielding);
  return common;
}

/// The messages of one plan.
class HybridChannels final : public Channels {
public:
  HybridChannels(const HybridEndpoint &endpoint, const OpenRequest &request) {
    addEdges(out_, request.out, endpoint);
    addEdges(in_, request.in, endpoint);
  }

  /// Opens the part's edges; the channels may be used by `ready` before they are kept.
  Status open(size_t part, Endpoint &endpoint, OpenRequest request,
              const std::function<Status()> &ready) {
    request.out = out_.edges[part];
    request.in = in_.edges[part];
    request.ready = [&](Channels &opened) {
      parts_[part] = &opened;
      return ready();
    };
    Result<std::unique_ptr<Channels>> opened = endpoint.open(request);
    parts_[part] = opened ? opened->get() : nullptr;
    if (!opened)
      return opened.status();
    owned_[part] = opened.take();
    return {};
  }

  Status prepare(const Work &work) override {
    for (Channels *part : parts_)
      if (Status s = part->prepare(work); !s)
        return s;
    return {};
  }
  Status mayReceive(MessageSlot slot, const Payload &payload) const override {
    Place at = in_.places[slot.edge];
    return partOf(at).mayReceive({at.edge, slot.message}, payload);
  }
  void start() override {
    for (Channels *part : parts_)
      part->start();
  }

  Posted send(MessageSlot slot, OpId op, const Payload &payload) override {
    Place at = out_.places[slot.edge];
    return after(at, partOf(at).send({at.edge, slot.message}, op, payload));
  }
  Posted recv(MessageSlot slot, OpId op, const Payload &payload) override {
    Place at = in_.places[slot.edge];
    return after(at, partOf(at).recv({at.edge, slot.message}, op, payload));
  }
  Posted recvCombining(MessageSlot slot, OpId op, const Payload &payload,
                       CombiningTarget &target) override {
    Place at = in_.places[slot.edge];
    return after(at, partOf(at).recvCombining({at.edge, slot.message}, op, payload, target));
  }
  Posted sendFromDevice(MessageSlot slot, OpId op, const Payload &payload,
                        DevicePayload &device) override {
    Place at = out_.places[slot.edge];
    return after(at, partOf(at).sendFromDevice({at.edge, slot.message}, op, payload, device));
  }
  void sendFromHost(MessageSlot slot) override {
    Place at = out_.places[slot.edge];
    partOf(at).sendFromHost({at.edge, slot.message});
  }
  Posted recvIntoDevice(MessageSlot slot, OpId op, const Payload &payload,
                        DevicePayload &device) override {
    Place at = in_.places[slot.edge];
    return after(at, partOf(at).recvIntoDevice({at.edge, slot.message}, op, payload, device));
  }
  bool sendNow(MessageSlot slot, const Payload &payload) override {
    Place at = out_.places[slot.edge];
    return partOf(at).sendNow({at.edge, slot.message}, payload);
  }
  bool recvNow(MessageSlot slot, const Payload &payload) override {
    Place at = in_.places[slot.edge];
    return partOf(at).recvNow({at.edge, slot.message}, payload);
  }

  void hold() override {
    for (Channels *part : parts_)
      part->hold();
  }
  void push() override {
    for (Channels *part : parts_)
      part->push();
  }
  std::span<const Completion> poll() override;
  bool isFlushed() const override { return parts_[0]->isFlushed() && parts_[1]->isFlushed(); }
  bool check() override;
  Rank findGone() override {
    Rank local = parts_[0]->findGone();
    return local != kNoRank ? local : parts_[1]->findGone();
  }
  void abort(const Fault &fault) override;
  void cancel() override {
    for (Channels *part : parts_)
      part->cancel();
  }
  OpId openOp(Rank peer) const override {
    OpId local = parts_[0]->openOp(peer);
    return local != kNoOp ? local : parts_[1]->openOp(peer);
  }

private:
  /// The place of an edge of the plan: the `edge`-th of a part, 0 local, 1 remote.
  struct Place {
    uint32_t part : 1;
    uint32_t edge : 31;
  };
  /// The edges of one direction.
  struct Side {
    std::vector<Place> places;                  ///< by edge of the plan
    std::array<std::vector<EdgeSpec>, 2> edges; ///< by part
  };

  void addEdges(Side &side, std::span<const EdgeSpec> edges, const HybridEndpoint &endpoint) {
    size_t messages = 0;
    for (const EdgeSpec &edge : edges) {
      uint32_t part = endpoint.isRemote(edge.peer);
      side.places.push_back({part, static_cast<uint32_t>(side.edges[part].size())});
      side.edges[part].push_back(edge);
      messages += edge.messages.size();
    }
    done_.reserve(done_.capacity() + messages);
  }
  Channels &partOf(Place at) const { return *parts_[at.part]; }
  Posted after(Place at, Posted posted) {
    if (posted == Posted::Failed)
      fail(partOf(at).fault());
    return posted;
  }

  Side out_, in_;
  std::array<std::unique_ptr<Channels>, 2> owned_;
  std::array<Channels *, 2> parts_ = {}; ///< null: not open
  std::vector<Completion> done_;
};

std::span<const Completion> HybridChannels::poll() {
  done_.clear();
  for (Channels *part : parts_) {
    std::span<const Completion> done = part->poll();
    done_.insert(done_.end(), done.begin(), done.end());
    if (part->failed())
      fail(part->fault());
  }
  return done_;
}

// The ranks of the other part may not know of the failure.
bool HybridChannels::check() {
  for (Channels *part : parts_)
    if (!failed() && !part->check())
      abort(part->fault());
  return !failed();
}

void HybridChannels::abort(const Fault &fault) {
  fail(fault);
  for (Channels *part : parts_)
    if (part)
      part->abort(fault);
}

} // namespace

HybridEndpoint::HybridEndpoint(Endpoint &local, Endpoint &remote, std::vector<bool> isRemote)
    : local_(local), remote_(remote), isRemote_(std::move(isRemote)),
      caps_(commonCaps(local.caps(), remote.caps())),
      sleeper_(local.caps().mustBePolled && !remote.caps().mustBePolled ? remote : local) {}

// The remote part is open on all ranks only if the local one is ready. A rank whose local part is
// not ready refuses the remote one, so that no rank waits for it there.
Result<std::unique_ptr<Channels>> HybridEndpoint::open(const OpenRequest &request) {
  Status own = RankGroup::ofAll(numRanks(), rank()).check(request);
  if (!own) {
    refuse(own.message());
    return own;
  }
  auto channels = std::make_unique<HybridChannels>(*this, request);
  local_.whileOpening(whileOpening_);
  own = channels->open(0, local_, request, [] { return Status(); });
  if (own) {
    remote_.whileOpening(whileOpening_);
    own = channels->open(1, remote_, request,
                         [&] { return request.ready ? request.ready(*channels) : Status(); });
  } else {
    remote_.refuse(own.message());
  }
  if (own)
    return std::unique_ptr<Channels>(std::move(channels));
  channels->abort({rank(), kNoOp, own.message(), own.kind()});
  return own;
}

void HybridEndpoint::refuse(const std::string &reason) {
  local_.refuse(reason);
  remote_.refuse(reason);
}

void HybridEndpoint::sleep(WakeupEpoch epoch, std::chrono::nanoseconds atMost) {
  sleeper_.sleep(epoch, std::min(atMost, kNap));
}

} // namespace colldsl::protocol
