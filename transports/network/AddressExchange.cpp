#include "transports/network/AddressExchange.h"

#include "transports/network/FailureBody.h"
#include "transports/shm/World.h"
#include "wireup/Interfaces.h"

#include <algorithm>
#include <cstring>
#include <sys/random.h>

namespace colldsl::network {
namespace {

Result<std::vector<BootstrapData>> exchangeAll(Bootstrap &bootstrap,
                                               std::span<const std::byte> mine, uint32_t numRanks) {
  std::vector<BootstrapData> out, in;
  for (uint32_t r = 0; r < numRanks; ++r) {
    out.push_back({Rank{r}, {mine.begin(), mine.end()}});
    in.push_back({Rank{r}, {}});
  }
  if (Status s = bootstrap.exchange(out, in); !s)
    return s;
  return in;
}

std::string wordsOf(const BootstrapData &data) {
  return {reinterpret_cast<const char *>(data.bytes.data()), data.bytes.size()};
}

Status noteAddress(const Transport &transport, RankAddress &rankAddress) {
  Result<std::vector<std::byte>> address = transport.address();
  if (!address)
    return address.status();
  if (address->size() > rankAddress.address.size())
    return Status::error("the network's addresses are too long");
  std::copy(address->begin(), address->end(), rankAddress.address.begin());
  rankAddress.addressBytes = static_cast<uint16_t>(address->size());
  return {};
}

} // namespace

Result<LocalRank> openLocalRank(const Transport &transport, Rank self, const Options &options) {
  LocalRank local;
  RankAddress &rankAddress = local.rankAddress;
  if (getrandom(&rankAddress.token, sizeof rankAddress.token, 0) != sizeof rankAddress.token)
    return Status::error("the kernel has no random numbers");
  if (Status s = noteAddress(transport, rankAddress); !s)
    return s;
  Result<std::string> address = addressAt(options.bind);
  if (!address)
    return address.status();
  Result<std::unique_ptr<ProcessMonitor>> monitor =
      ProcessMonitor::open(address.take(), self, rankAddress.token, options.silence);
  if (!monitor)
    return monitor.status();
  local.monitor = monitor.take();
  local.monitor->describe(rankAddress);
  return local;
}

// Data of another length than an address is the reason why the rank has no address.
Result<Directory> exchangeAddresses(Bootstrap &bootstrap, const RankAddress &rankAddress,
                                    uint32_t numRanks) {
  Result<std::vector<BootstrapData>> received =
      exchangeAll(bootstrap, std::as_bytes(std::span(&rankAddress, 1)), numRanks);
  if (!received)
    return received.status();
  const std::vector<BootstrapData> &in = *received;
  std::vector<RankAddress> rankAddresses(numRanks);
  for (uint32_t r = 0; r < numRanks; ++r) {
    if (in[r].bytes.size() != sizeof(RankAddress))
      return Status::error(ErrorKind::Refused, "rank " + std::to_string(r) + ": " + wordsOf(in[r]));
    std::memcpy(&rankAddresses[r], in[r].bytes.data(), sizeof(RankAddress));
  }
  return Directory([rankAddresses = std::move(rankAddresses)](Rank rank) -> Result<RankAddress> {
    if (index(rank) >= rankAddresses.size())
      return Status::error("there is no rank " + std::to_string(index(rank)));
    return rankAddresses[index(rank)];
  });
}

void exchangeFailure(Bootstrap &bootstrap, uint32_t numRanks, std::string why) {
  if (why.size() == sizeof(RankAddress))
    why += ' ';
  (void)exchangeAll(bootstrap, std::as_bytes(std::span(why)), numRanks);
}

Fault faultOf(const ProcessMonitor::Event &event, Rank self) {
  std::string rank = "rank " + std::to_string(index(event.rank));
  switch (event.what) {
  case ProcessMonitor::What::Died:
    return {event.rank, kNoOp, shm::reasonOfDeath(event.rank), ErrorKind::RankDied};
  case ProcessMonitor::What::Disconnected:
    return {event.rank, kNoOp,
            rank + " cannot reach rank " + std::to_string(index(self)) + " any more"};
  case ProcessMonitor::What::Failed: {
    std::optional<FailureBody> failure = readFailure(std::as_bytes(std::span(&event.failure, 1)));
    return failure ? Fault{failure->culprit, kNoOp, failure->reason, failure->kind}
                   : Fault{event.rank, kNoOp, rank + " says something that means nothing"};
  }
  case ProcessMonitor::What::Silent:
    return {event.rank, kNoOp, rank + " cannot be reached: " + std::strerror(event.error)};
  }
  __builtin_unreachable();
}

} // namespace colldsl::network
