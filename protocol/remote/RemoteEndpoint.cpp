#include "protocol/remote/RemoteEndpoint.h"

#include "protocol/remote/RemoteChannels.h"

namespace colldsl::protocol {
TransferCaps RemoteEndpoint::ownTransferCaps() const {
  const network::Capabilities &capabilities = worker_.transport().capabilities();
  uint64_t rmaFrom =
      capabilities.hasRma ? worker_.options().rmaThresholdBytes + 1 : TransferCaps::kNever;
  TransferCaps caps;
  caps.eagerUpTo = caps.defaultEagerUpTo = worker_.options().longestEagerBytes;
  caps.rendezvousFrom = 1;
  caps.readerFrom = caps.writerFrom = rmaFrom;
  if (keepsMemory())
    caps.staticFrom = caps.canaryStaticFrom = rmaFrom;
  // The stream of several plans does not name a message.
  if (capabilities.hasRma && keepsMemory() && !group_.numbersRuns()) {
    caps.announced = true;
    caps.announcedStaticFrom = 1;
    caps.canaryUpTo = capabilities.inOrderBytes;
  }
  caps.multicast = capabilities.multicast;
  // Shorter messages may be eager, so that the processor would copy them.
  if (capabilities.hasRma && capabilities.registersDevice && keepsMemory()) {
    caps.deviceFrom = worker_.options().longestEagerBytes + 1;
    caps.deviceUpTo = capabilities.maxRmaBytes;
    caps.deviceSendPieces = capabilities.pieces;
    caps.deviceReceivePieces = std::min(network::kMaxRemoteIovs, capabilities.remoteIovs);
  }
  return caps;
}

std::shared_ptr<network::DeviceRegistration>
RemoteEndpoint::registerDevice(const network::DeviceMemory &memory) {
  return worker_.registerDevice(memory);
}

RemoteEndpoint::RemoteEndpoint(RemoteWorker &worker, RankGroup group, std::mutex *guard)
    : worker_(worker), group_(std::move(group)), guard_(guard) {
  const network::Capabilities &capabilities = worker.transport().capabilities();
  caps_.name = capabilities.name;
  caps_.bufferedSendBytes = worker.options().longestEagerBytes;
  caps_.opensAlone = true;
  caps_.batches = capabilities.batches;
  caps_.tcp = capabilities.isMovedByKernel();
  caps_.spinBudget.polls = worker.options().spinPolls;
  caps_.transfers = ownTransferCaps();
}

Result<std::unique_ptr<Channels>> RemoteEndpoint::open(const OpenRequest &request) {
  auto channels = std::make_unique<RemoteChannels>(*this, nextStream());
  if (Status s = channels->open(request); !s)
    return s;
  return std::unique_ptr<Channels>(std::move(channels));
}

void RemoteEndpoint::refuse(const std::string &reason) {
  uint32_t stream = nextStream();
  auto held = hold();
  report(streamId(group_.context, stream), group_.numbersRuns() ? *group_.runs.next : kAllRuns,
         {rank(), kNoOp, prefixed(rank(), reason), ErrorKind::Refused});
  worker_.progress();
}

uint32_t RemoteEndpoint::nextStream() {
  if (group_.numbersRuns())
    return group_.runs.stream;
  auto held = hold();
  return worker_.openStream(group_.context);
}

void RemoteEndpoint::closed(uint32_t stream) {
  if (!group_.numbersRuns())
    worker_.closeStream(streamId(group_.context, stream));
}

// Notifies the whole group if it numbers the runs; else the peers and, along a tree, all ranks.
void RemoteEndpoint::report(StreamId plan, uint32_t run, const Fault &fault) {
  Fault reported = fault;
  reported.peer = fault.peer == kNoRank ? kNoRank : group_.rankAt(fault.peer);
  bool isOfRun = group_.numbersRuns();
  worker_.report(tagOf(plan, isOfRun ? run : kAllRuns), reported,
                 isOfRun ? std::span<const Rank>(group_.ranks) : std::span<const Rank>());
}

std::optional<Fault> RemoteEndpoint::findFailure(StreamId plan, uint32_t run) const {
  std::optional<Fault> fault = worker_.findFailure(tagOf(plan, run));
  if (fault && fault->peer != kNoRank)
    fault->peer = group_.placeOf(fault->peer);
  return fault;
}

} // namespace colldsl::protocol
