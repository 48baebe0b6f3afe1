/// Answers to requests to send: the rendezvous of ReceiveSide, which includes this.
#pragma once

#include "protocol/ReceiveSide.h"

namespace colldsl::protocol {

// False: the sender has cancelled the RTS, as if it had never sent it.
template <typename Wire>
bool ReceiveSide<Wire>::answer(Request &request, uint16_t id, const Rts &rts) {
  if (!wire_.claim(rts))
    return false;
  if (!matchLength(request, rts.bytes)) {
    wire_.sendFin(rts);
    return true;
  }
  RemoteBuffer buffer = wire_.remoteBufferOf(request.payload);
  bool puts = shouldPut(request, rts, buffer);
  if constexpr (Wire::kCooperates)
    if (std::optional<RemoteBuffer> whole = bufferOfCooperation(request, rts, buffer)) {
      expect(id, request, rts);
      wire_.startCooperation(rts, *whole);
      if (puts)
        rtrSent_.push_back(id);
      else
        while (copyNextParts(id)) {
        }
      return true;
    }
  GetResult result = puts ? GetResult::Refused : get(request, rts);
  if (result == GetResult::Done) {
    request.complete();
    return true;
  }
  expect(id, request, rts);
  if (result == GetResult::Started)
    return true;
  if (puts || (wire_.canPut(rts, buffer) && !request.combining)) {
    rtrSent_.push_back(id);
    wire_.sendRtr(rts, buffer);
  } else {
    wire_.requestFragments(rts);
  }
  return true;
}

template <typename Wire>
void ReceiveSide<Wire>::expect(uint16_t id, Request &request, const Rts &rts) {
  request.transferred = 0;
  if (id >= incoming_.size()) {
    incoming_.resize(id + 1u);
    rtrSent_.reserve(incoming_.size());
  }
  request.rendezvousId = id;
  incoming_[id] = {&request, rts};
}

template <typename Wire>
bool ReceiveSide<Wire>::shouldPut(const Request &request, const Rts &rts,
                                  const RemoteBuffer &buffer) const {
  bool mayPut =
      wire_.canPut(rts, buffer) || (!Wire::kPrefersPut && mayReach(rts.bytes, buffer.pieces));
  if (request.combining || !mayPut)
    return false;
  return request.mover == Mover::Writer ||
         (request.mover == Mover::Either &&
          (Wire::kPrefersPut || rts.sender.copyKiB + kRtrCostKiB < request.counter->copyKiB));
}

// Gets the payload of a claimed request. Done: it is here, and the sender was notified.
template <typename Wire> GetResult ReceiveSide<Wire>::get(const Request &request, const Rts &rts) {
  if (const std::byte *bytes = wire_.map(rts.buffer)) {
    store(request, 0, bytes, rts.bytes);
    wire_.sendFin(rts);
    return GetResult::Done;
  }
  if (!wire_.isSelf() && !mayReach(rts.bytes, rts.buffer.pieces))
    return GetResult::Refused;
  if (request.combining)
    return getAndCombine(request, rts);
  RequestPayload whole = request.payload;
  whole.bytes = rts.bytes;
  GetResult result = wire_.get(rts.buffer, 0, whole);
  if (result == GetResult::Done)
    wire_.sendFin(rts);
  return result;
}

// Gets part by part, so that each stays in a cache until it is combined. If a get fails, the parts
// combined before are not combined again. The FIN goes out before the last part is combined, so
// that the sender does not wait for that.
template <typename Wire>
GetResult ReceiveSide<Wire>::getAndCombine(const Request &request, const Rts &rts) {
  if (rts.buffer.pieces != 1)
    return GetResult::Refused;
  const CombiningTarget &target = *request.combining;
  const uint64_t most = kPartBytes - kPartBytes % target.elementBytes;
  if (!target.room)
    context_.part.resize(most);
  for (uint64_t offset = 0; offset < rts.bytes; offset += most) {
    std::byte *at = target.room ? target.room + offset : context_.part.data();
    iovec part{at, std::min(most, rts.bytes - offset)};
    if (wire_.get(rts.buffer, offset, Payload{&part, 1, false, false, part.iov_len}) !=
        GetResult::Done)
      return GetResult::Refused;
    if (offset + part.iov_len == rts.bytes)
      wire_.sendFin(rts);
    store(request, offset, at, part.iov_len);
  }
  return GetResult::Done;
}

// The buffer into which the sender copies its parts; nothing: only one end copies. A message that
// is combined as it arrives needs room for the parts that the sender puts.
template <typename Wire>
std::optional<typename Wire::RemoteBuffer> ReceiveSide<Wire>::bufferOfCooperation(
    const Request &request, const Rts &rts,
    const RemoteBuffer &buffer) const requires Wire::kCooperates {
  bool isLong = context_.limits.isWorthCooperation(rts.bytes, rts.sender.copyKiB,
                                                   request.combining != nullptr);
  if (!isLong || !rts.sender.sendsOnly || request.mover != Mover::Either || wire_.isSelf() ||
      rts.buffer.pieces != 1)
    return std::nullopt;
  RemoteBuffer to = buffer;
  if (const CombiningTarget *target = request.combining) {
    if (!target->room || cooperative::kLeastPartBytes % target->elementBytes != 0)
      return std::nullopt;
    iovec room{target->room, rts.bytes};
    to = wire_.remoteBufferOf({&room, 1, false, false, rts.bytes});
  }
  bool isShared = rts.buffer.isShared && to.isShared;
  return to.pieces == 1 && (isShared || mayReach(rts.bytes, 1)) ? std::optional(to) : std::nullopt;
}

// False: no part is left to claim. If the sender leaves last, it notifies this end as after a put.
template <typename Wire>
bool ReceiveSide<Wire>::copyNextParts(uint16_t id) requires Wire::kCooperates {
  auto [request, rts] = incoming_[id];
  const cooperative::Parts parts(rts.bytes);
  std::optional<cooperative::Claim> claim = wire_.claimParts(rts, parts.count);
  if (!claim)
    return false;
  bool isCopied = copyPart(*request, rts, parts.beginOf(*claim), parts.bytesOf(*claim));
  cooperative::Outcome outcome = wire_.leaveParts(rts, parts.count, isCopied);
  if (outcome == cooperative::Outcome::Pending)
    return true;
  wire_.endCooperation(rts, outcome);
  if (outcome == cooperative::Outcome::Copied)
    finishPut(id);
  return false;
}

template <typename Wire>
bool ReceiveSide<Wire>::copyPart(const Request &request, const Rts &rts, uint64_t offset,
                                 uint64_t bytes) requires Wire::kCooperates {
  if (const std::byte *from = wire_.map(rts.buffer)) {
    store(request, offset, from + offset, bytes);
    return true;
  }
  auto *to = request.combining ? request.combining->room
                               : static_cast<std::byte *>(request.payload.pieces[0].iov_base);
  const uint64_t most = request.combining ? kPartBytes : bytes; // stays in a cache
  for (uint64_t end = offset + bytes; offset < end;) {
    iovec part{to + offset, std::min(most, end - offset)};
    Payload here{&part, 1, false, false, part.iov_len};
    if (wire_.get(rts.buffer, offset, here) != GetResult::Done)
      return false;
    if (request.combining)
      store(request, offset, to + offset, part.iov_len);
    offset += part.iov_len;
  }
  return true;
}

// An idle receiver copies parts of the oldest RTR whose payload both ends copy.
template <typename Wire> bool ReceiveSide<Wire>::helpSender() {
  if constexpr (Wire::kCooperates)
    for (uint16_t id : rtrSent_)
      if (wire_.isCooperation(incoming_[id].rts))
        return copyNextParts(id);
  return false;
}

// Combines the bytes that the sender has put behind those that are combined already.
template <typename Wire> void ReceiveSide<Wire>::finishPut(uint16_t id) {
  std::erase(rtrSent_, id);
  auto [request, rts] = incoming_[id];
  if (!request)
    return;
  if (CombiningTarget *target = request->combining; target && target->combinedBytes < rts.bytes)
    store(*request, target->combinedBytes, target->room + target->combinedBytes,
          rts.bytes - target->combinedBytes);
  finish(id);
}

// Withdraws the oldest RTR that its sender has not begun with, and whose payload this end can get.
template <typename Wire> bool ReceiveSide<Wire>::withdrawRtr() {
  for (uint16_t id : rtrSent_)
    if (withdrawRtr(id))
      return true;
  return false;
}

template <typename Wire> bool ReceiveSide<Wire>::withdrawRtr(uint16_t id) {
  auto [request, rts] = incoming_[id];
  bool canGet = wire_.map(rts.buffer) || mayReach(rts.bytes, rts.buffer.pieces);
  if (!canGet || !wire_.withdrawRtr(rts))
    return false;
  std::erase(rtrSent_, id);
  if (get(*request, rts) == GetResult::Done)
    finish(id);
  else
    wire_.requestFragments(rts);
  return true;
}

template <typename Wire> void ReceiveSide<Wire>::finish(uint16_t id) {
  Request *request = std::exchange(incoming_[id].request, nullptr);
  request->transferred = incoming_[id].rts.bytes;
  request->complete();
}

// A cancelled receive gets nothing. A fragment in answer to an RTR means that the sender could not
// put.
template <typename Wire>
void ReceiveSide<Wire>::onFragment(uint16_t id, const std::byte *bytes, uint64_t count) {
  std::erase(rtrSent_, id);
  Request *request = incoming_[id].request;
  if (!request)
    return;
  store(*request, request->transferred, bytes, count);
  request->transferred += count;
  if (request->transferred == incoming_[id].rts.bytes)
    finish(id);
}

template <typename Wire> void ReceiveSide<Wire>::onPut(uint16_t id) { finishPut(id); }

// Completes the receive whose early RTR the put answers.
template <typename Wire> void ReceiveSide<Wire>::onEarlyRtrPut(const Tag &tag) {
  if (Request *request = posted_.take(tag)) {
    noteWritten(request->payload);
    wire_.retireRtr(request->payload);
    request->transferred = request->payload.bytes;
    request->complete();
  }
}

template <typename Wire> void ReceiveSide<Wire>::onGetDone(uint16_t id) {
  wire_.sendFin(incoming_[id].rts);
  if (incoming_[id].request)
    finish(id);
}

// The receive waits as if nothing had come.
template <typename Wire> void ReceiveSide<Wire>::onRtsCancelled(uint16_t id) {
  std::erase(rtrSent_, id);
  if (Request *request = std::exchange(incoming_[id].request, nullptr))
    posted_.add(*request);
}

// Drops the requests of a run, or of a stream, that have not been answered.
template <typename Wire> void ReceiveSide<Wire>::dropRts(const Tag &scope) {
  unexpected_.releaseIf(
      [&](const auto &message) { return message.rts && isOf(message.tag, scope); });
}

} // namespace colldsl::protocol
