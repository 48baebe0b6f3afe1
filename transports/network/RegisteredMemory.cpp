#include "transports/network/RegisteredMemory.h"

#include <algorithm>

namespace colldsl::network {

RmaMemory rmaMemoryOf(const RequestPayload &payload) {
  if (const DevicePayload *device = payload.device)
    return {device->pieces, device->registration->region, device->registration->of.iov_base};
  return {payload.pieces, payload.registered->region, payload.registered->of.iov_base};
}

void revoke(const RequestPayload &payload) {
  if (payload.device)
    payload.device->registration->region.reset();
  else if (payload.registered)
    payload.registered->region.reset();
}

bool isRegistered(const RequestPayload &payload, Access access) {
  const RegisteredMemory &known = *payload.registered;
  iovec memory = spanOf(payload);
  return known.region && memory.iov_base == known.of.iov_base &&
         memory.iov_len == known.of.iov_len && known.access == access;
}

bool registerMemory(Transport &transport, const RequestPayload &payload, Access access) {
  if (!payload.registered)
    return false;
  if (payload.device)
    return bool(payload.device->registration->region);
  if (isRegistered(payload, access))
    return true;
  RegisteredMemory &known = *payload.registered;
  iovec memory = spanOf(payload);
  known.region.reset();
  std::span<const iovec> pieces(&memory, 1);
  if (transport.capabilities().registersPieces)
    pieces = {payload.pieces, payload.count};
  Result<Region> region = transport.registerMemory(pieces, access);
  if (!region)
    return false;
  known.region = region.take();
  known.of = memory;
  known.access = access;
  return true;
}

RmaSpec makeRmaSpec(const RequestPayload &payload, uint64_t bytes) {
  RmaSpec spec;
  RmaMemory memory = rmaMemoryOf(payload);
  spec.bytes = bytes;
  for (uint64_t left = bytes; spec.count < payload.count && left > 0; ++spec.count) {
    iovec &piece = spec.pieces[spec.count] = memory.pieces[spec.count];
    piece.iov_len = std::min<uint64_t>(left, piece.iov_len);
    left -= piece.iov_len;
    spec.descriptors[spec.count] = memory.region.descriptor();
  }
  return spec;
}

} // namespace colldsl::network
