#include "executor/DirectMessages.h"

#include <algorithm>

namespace colldsl {

// The processor writes into the buffer of a static message that has a canary, and gathers a message
// to several ranks.
bool DirectMessages::isEligible(const ImageOp &op, const Step &step,
                                const Endpoint &endpoint) const {
  bool isMessage = step.kind == Step::Kind::Send || step.kind == Step::Kind::Recv;
  if (!isMessage || step.variable || op.kind == OpKind::Signal || op.kind == OpKind::Wait ||
      op.peer == endpoint.rank() || endpoint.isOnThisMachine(op.peer))
    return false;
  Transfer way = op.transfer();
  if (way.protocol == Protocol::Static || way.multicast)
    return false;
  bool receives = step.kind == Step::Kind::Recv;
  if (receives && writes_ == device::RemoteWrites::Unknown)
    return false;
  const TransferCaps &caps = endpoint.transferCaps(op.peer);
  return step.payload.bytes >= caps.deviceFrom && step.payload.bytes <= caps.deviceUpTo &&
         step.payload.count <= (receives ? caps.deviceReceivePieces : caps.deviceSendPieces);
}

// One registration covers an area, and the network names one per message.
const DeviceAreas::Area *DirectMessages::onlyArea(const Payload &payload,
                                                  const DeviceAreas &areas) {
  const DeviceAreas::Area *only = nullptr;
  for (uint32_t i = 0; i < payload.count; ++i) {
    if (payload.pieces[i].iov_len == 0)
      continue;
    const DeviceAreas::Area *area =
        areas.areaOf(static_cast<const std::byte *>(payload.pieces[i].iov_base));
    if (!area || (only && area != only))
      return nullptr;
    only = area;
  }
  return only;
}

void DirectMessages::find(Endpoint &endpoint, const DeviceAreas &areas, const Steps &steps) {
  endpoint_ = &endpoint;
  states_.clear();
  excluded_.clear();
  ofOps_.clear();
  if (std::none_of(view_.ops.begin(), view_.ops.end(), [&](const ImageOp &op) {
        return colldsl::travels(op) &&
               endpoint.transferCaps(op.peer).deviceFrom != TransferCaps::kNever;
      }))
    return;
  ofOps_.assign(view_.ops.size(), nullptr);
  const auto *memory = reinterpret_cast<const void *>(areas.callersAddress());
  writes_ = device::remoteWritesOf(areas.driver(), memory);
  bool anyFound = false;
  for (uint32_t op = 0; op < view_.ops.size(); ++op) {
    const Step &step = steps[OpId{op}];
    if (isEligible(view_.ops[op], step, endpoint))
      ofOps_[op] = onlyArea(step.payload, areas);
    anyFound |= ofOps_[op] != nullptr;
  }
  if (!anyFound)
    ofOps_.clear();
}

bool DirectMessages::isExcluded(const DeviceAreas::Area &area) const {
  return std::find(excluded_.begin(), excluded_.end(), &area) != excluded_.end();
}

bool DirectMessages::registerMemory(OpId op, DeviceAreas &areas) {
  const DeviceAreas::Area &area = *ofOps_[index(op)];
  if (areas.registerArea(*endpoint_, area))
    return true;
  exclude(area);
  return false;
}

void DirectMessages::makePayloads(const std::vector<bool> &areChosen, const DeviceAreas &areas,
                                  const Steps &steps) {
  for (uint32_t op = 0; op < view_.ops.size(); ++op) {
    if (!areChosen[op] || !mayTravel(OpId{op}))
      continue;
    states_.resize(view_.ops.size());
    const DeviceAreas::Area &area = *ofOps_[op];
    const Payload &payload = steps[OpId{op}].payload;
    State &state = states_[op];
    state.way = Way::Device;
    for (uint32_t i = 0; i < payload.count; ++i) {
      auto [begin, bytes] = payload.pieces[i];
      device::DeviceAddress at =
          bytes == 0 ? area.device : area.deviceAddressOf(static_cast<const std::byte *>(begin));
      state.pieces.push_back({reinterpret_cast<void *>(at), bytes});
    }
    state.payload = {state.pieces.data(), areas.registrationOf(area), false};
  }
}

void DirectMessages::begin() {
  for (uint32_t op = 0; op < states_.size(); ++op) {
    states_[op].isHeld = false;
    if (states_[op].way == Way::Host && view_.ops[op].kind == OpKind::Recv)
      states_[op].way = Way::Device;
  }
}

Status DirectMessages::receive(OpId op, const DeviceAreas &areas) {
  State &state = states_[index(op)];
  if (!state.payload.isUsed) {
    state.way = Way::Host;
    return {};
  }
  return writes_ == device::RemoteWrites::Flushed
             ? device::flushRemoteWrites(areas.driver(), areas.context())
             : Status();
}

} // namespace colldsl
