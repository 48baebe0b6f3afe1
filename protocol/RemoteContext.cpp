#include "protocol/RemoteContext.h"

#include <algorithm>

namespace colldsl::protocol {

uint32_t TicketTable::add(const Ticket &ticket, std::optional<uint64_t> key) {
  auto place = static_cast<uint32_t>(key ? *key : tickets_.size());
  if (!key && !free_.empty()) {
    place = free_.back();
    free_.pop_back();
  }
  if (place >= tickets_.size())
    tickets_.resize(place + 1);
  uint32_t use = key ? 0 : tickets_[place].use + 1;
  tickets_[place] = ticket;
  tickets_[place].use = use;
  return place;
}

void TicketTable::retire(uint32_t place) {
  if (!tickets_[place].receiver)
    return;
  if (tickets_[place].use != 0)
    free_.push_back(place);
  tickets_[place].receiver = nullptr;
}

TicketTable::Ticket TicketTable::take(uint32_t name) {
  uint32_t place = name & ((1u << kPlaceBits) - 1);
  if (place >= tickets_.size() || !tickets_[place].receiver || nameOf(place) != name)
    return {};
  Ticket ticket = tickets_[place];
  retire(place);
  return ticket;
}

size_t TicketTable::numInUse() const {
  return static_cast<size_t>(std::count_if(tickets_.begin(), tickets_.end(),
                                           [](const Ticket &t) { return t.receiver != nullptr; }));
}

bool RemoteContext::canMove(const network::Peer &peer, const RequestPayload &payload,
                            uint64_t bytes) const {
  const network::Capabilities &capabilities = carrier.capabilities();
  return capabilities.moves && payload.registered && bytes <= capabilities.moveBytes &&
         !peer.isSelf && bytes > options.directBytes && payload.count <= capabilities.pieces &&
         (!capabilities.local || isDense(payload));
}

bool RemoteContext::canBeWritten(const network::Peer &peer, const RequestPayload &payload,
                                 uint64_t bytes) const {
  const network::Capabilities &capabilities = carrier.capabilities();
  return capabilities.moves && payload.registered && bytes <= capabilities.moveBytes &&
         !peer.isSelf && bytes > options.directBytes && payload.count <= capabilities.remoteIovs &&
         (capabilities.registersPieces || isDense(payload));
}

bool RemoteContext::canGather(const RequestPayload &payload, network::Access access) const {
  return payload.count == 1 || !carrier.capabilities().local ||
         network::registerMemory(carrier, payload, access);
}

} // namespace colldsl::protocol
