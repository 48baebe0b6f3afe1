#include "protocol/remote/RemoteContext.h"

#include <algorithm>

namespace colldsl::protocol {

uint32_t RtrTable::add(const Entry &rtr, std::optional<uint64_t> key) {
  auto place = static_cast<uint32_t>(key ? *key : entries_.size());
  if (!key && !free_.empty()) {
    place = free_.back();
    free_.pop_back();
  }
  if (place >= entries_.size())
    entries_.resize(place + 1);
  uint32_t use = key ? 0 : entries_[place].use + 1;
  entries_[place] = rtr;
  entries_[place].use = use;
  return place;
}

void RtrTable::renew(uint32_t place, const Entry &rtr) {
  uint32_t use = entries_[place].use;
  entries_[place] = rtr;
  entries_[place].use = use;
}

void RtrTable::retire(uint32_t place) {
  if (!entries_[place].receiver)
    return;
  if (entries_[place].use != 0)
    free_.push_back(place);
  entries_[place].receiver = nullptr;
}

RtrTable::Entry RtrTable::take(uint32_t id) {
  uint32_t place = id & ((1u << kPlaceBits) - 1);
  if (place >= entries_.size() || !entries_[place].receiver || idOf(place) != id)
    return {};
  Entry rtr = entries_[place];
  if (!rtr.stays)
    retire(place);
  return rtr;
}

size_t RtrTable::numInUse() const {
  return static_cast<size_t>(std::count_if(entries_.begin(), entries_.end(),
                                           [](const Entry &t) { return t.receiver != nullptr; }));
}

namespace {

// Memory of the host may lie far apart if it is not registered as a whole.
bool isReachable(const RequestPayload &payload, bool isWhole) {
  if (payload.device)
    return bool(payload.device->registration->region);
  return !isWhole || isDense(payload);
}

} // namespace

bool RemoteContext::canUseRma(const network::Peer &peer, const RequestPayload &payload,
                              uint64_t bytes) const {
  const network::Capabilities &capabilities = transport.capabilities();
  return capabilities.hasRma && payload.registered && bytes <= capabilities.maxRmaBytes &&
         !peer.isSelf && isLongEnough(payload, bytes) && payload.count <= capabilities.pieces &&
         isReachable(payload, capabilities.needsLocalRegistration);
}

bool RemoteContext::canBeWritten(const network::Peer &peer, const RequestPayload &payload,
                                 uint64_t bytes) const {
  const network::Capabilities &capabilities = transport.capabilities();
  return capabilities.hasRma && payload.registered && bytes <= capabilities.maxRmaBytes &&
         !peer.isSelf && isLongEnough(payload, bytes) && payload.count <= capabilities.remoteIovs &&
         isReachable(payload, !capabilities.registersPieces);
}

bool RemoteContext::canGather(const RequestPayload &payload, network::Access access) const {
  return payload.count == 1 || !transport.capabilities().needsLocalRegistration ||
         network::registerMemory(transport, payload, access);
}

} // namespace colldsl::protocol
