// RTRs that stay, which static messages have over a network.
#include "protocol/remote/RemoteReceiver.h"

#include "transports/Processor.h"

#include <algorithm>

namespace colldsl::protocol {

using network::Access;
using network::Kind;
using network::RegisteredMemory;
using network::RtrBody;
using network::Stay;

// Ends an RTR that stays, if its memory is not that of this run's payload.
void RemoteReceiver::endOtherRtr(const RequestPayload &payload) {
  RegisteredMemory &registered = *payload.registered;
  bool isSame = payload.count == 1 && network::isRegistered(payload, Access::RemoteWrite);
  if (registered.stays && !isSame)
    releaseRtr(registered);
}

bool RemoteReceiver::prepareRtr(const RequestPayload &payload) {
  endOtherRtr(payload);
  bool hasPlace = payload.registered->rtr != RegisteredMemory::kNoRtr || context_.rtrs.hasRoom();
  return hasPlace && network::registerMemory(context_.transport, payload, Access::RemoteWrite);
}

// Notifies the sender, which knows the RTR already. The canary is written before the sender can
// put.
void RemoteReceiver::sendReady(const Tag &tag, const RequestPayload &payload) {
  RegisteredMemory &registered = *payload.registered;
  context_.rtrs.renew(registered.rtr, {this, tag, 0, true, true});
  registered.mayBePut = true;
  watch(tag, payload);
  if (!registered.isAnnounced)
    context_.am->send(peer_, {.tag = tag, .kind = Kind::Ready}, std::span<const std::byte>());
}

bool RemoteReceiver::watch(const Tag &tag, const RequestPayload &payload) {
  const RegisteredMemory &registered = *payload.registered;
  if (!registered.hasCanary || payload.bytes > context_.transport.capabilities().inOrderBytes)
    return false;
  auto *last = static_cast<std::byte *>(registered.of.iov_base) + payload.bytes - 1;
  __atomic_store_n(reinterpret_cast<uint8_t *>(last), static_cast<uint8_t>(network::kCanary),
                   __ATOMIC_RELEASE);
  context_.watches.push_back({this, tag, &registered, last});
  return true;
}

void RemoteReceiver::askForNotice(const Tag &tag) {
  context_.am->send(peer_, {.tag = tag, .kind = Kind::Notify}, std::span<const std::byte>());
}

void RemoteReceiver::onNoNotice(const Tag &tag) {
  for (CanaryWatch &watch : context_.watches)
    if (watch.receiver == this && watch.tag == tag)
      watch.isSuspended = false;
}

void RemoteReceiver::endStatic(const RequestPayload &payload) {
  if (payload.registered && payload.registered->stays)
    releaseRtr(*payload.registered);
}

// If the last byte is here, all others are, since the transport writes them in order.
bool RemoteContext::takeWatched() {
  bool moved = false;
  for (size_t i = 0; i < watches.size();) {
    const CanaryWatch watch = watches[i];
    uint8_t last = __atomic_load_n(reinterpret_cast<const uint8_t *>(watch.last), __ATOMIC_ACQUIRE);
    if (watch.isSuspended || last == static_cast<uint8_t>(network::kCanary)) {
      ++i;
      continue;
    }
    orderDeviceReads();
    watches.erase(watches.begin() + static_cast<std::ptrdiff_t>(i));
    watch.receiver->onWatched(watch.tag);
    moved = true;
  }
  return moved;
}

bool RemoteContext::suspendWatches() {
  bool areAwake = false;
  for (CanaryWatch &watch : watches) {
    areAwake |= watch.wasSuspended && !watch.isSuspended;
    if (std::exchange(watch.wasSuspended, true))
      continue;
    watch.isSuspended = true;
    watch.receiver->askForNotice(watch.tag);
  }
  return areAwake;
}

bool RemoteSender::endsInCanary(const Payload &payload) {
  std::byte last = {};
  gather(&last, payload, payload.bytes - 1, 1);
  return last == network::kCanary;
}

RemoteSender::StaticRtr *RemoteSender::findStatic(const Tag &tag) {
  auto found = staticRtrs_.find({streamOf(tag), tag.message});
  return found == staticRtrs_.end() ? nullptr : &found->second;
}

// Null: the receiver is not ready for this run, as far as is known here.
const RemoteSender::StaticRtr *RemoteSender::findReady(const Tag &tag) const {
  auto found = staticRtrs_.find({streamOf(tag), tag.message});
  if (found == staticRtrs_.end())
    return nullptr;
  const StaticRtr &rtr = found->second;
  return rtr.body.stay == Stay::Announced || rtr.readyRun == tag.run ? &rtr : nullptr;
}

bool RemoteSender::hasPut(const Tag &tag) const {
  auto found = staticRtrs_.find({streamOf(tag), tag.message});
  return found == staticRtrs_.end() ? !hasEarlyRtr(tag) : found->second.putRun == tag.run;
}

void RemoteSender::onStaticRtr(const Tag &tag, const RtrBody &body) {
  StaticRtr &rtr = staticRtrs_[{streamOf(tag), tag.message}];
  rtr.body = body;
  rtr.readyRun = tag.run;
  putRequested(tag, rtr);
}

void RemoteSender::onReady(const Tag &tag) {
  StaticRtr *rtr = context_.isDiscarded(tag) ? nullptr : findStatic(tag);
  if (!rtr)
    return;
  rtr->readyRun = tag.run;
  putRequested(tag, *rtr);
}

RemoteSender::Buffer RemoteSender::bufferOf(const StaticRtr &rtr, const Tag &tag) {
  Buffer buffer{rtr.body, {}};
  buffer.body.hasCanary = rtr.body.hasCanary && rtr.noticeRun != tag.run;
  return buffer;
}

// A put whose payload ends in the canary has a notification anyway. Nevertheless the answer here is
// that it has none: the receiver then watches a byte that stays as it is.
bool RemoteSender::onNotify(const Tag &tag) {
  StaticRtr *rtr = findStatic(tag);
  if (!rtr)
    return true;
  rtr->noticeRun = tag.run;
  return rtr->putRun != tag.run;
}

// Puts the payload of a request that the RTR fits: the receiver ignores such a request. Notices of
// other ranks may have overtaken the RTR of an announced message, so that the request is of a later
// run.
void RemoteSender::putRequested(const Tag &tag, StaticRtr &rtr) {
  Id *id = requested_.find(tag);
  if (!id && rtr.body.stay == Stay::Announced)
    requested_.forEach([&](const Id &requested) {
      if (streamOf(requested.tag) == streamOf(tag) && requested.tag.message == tag.message)
        id = &ids_[requested.id];
    });
  Buffer buffer = bufferOf(rtr, id ? id->tag : tag);
  if (!id || !canPut(buffer, id->payload))
    return;
  requested_.take(id->tag);
  rtr.putRun = id->tag.run;
  rtr.readyRun.reset();
  id->payload.registered->usesEarlyRtr = true;
  id->buffer = std::move(buffer);
  if (!beginPut(*id))
    sendRtsForFragments(*id);
}

bool RemoteSender::putStatic(const Tag &tag, const RequestPayload &payload, uint16_t &id) {
  StaticRtr &rtr = *findStatic(tag);
  Buffer buffer = bufferOf(rtr, tag);
  if (!putInto(buffer, tag, payload, id))
    return false;
  rtr.putRun = tag.run;
  rtr.readyRun.reset();
  return true;
}

void RemoteSender::dropStatic(StreamId stream) {
  staticRtrs_.erase(staticRtrs_.lower_bound({stream, 0}),
                    staticRtrs_.upper_bound({stream, UINT32_MAX}));
}

} // namespace colldsl::protocol
