#include "tests/device/FakeNetwork.h"

#include "tests/device/FakeDevice.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace colldsl::test {

using network::Access;
using network::Capabilities;
using network::DeviceMemory;
using network::Frame;
using network::Operation;
using network::Peer;
using network::PostResult;
using network::Region;
using network::RmaOperation;
using network::RmaSpec;

namespace {

constexpr uint64_t kPageBytes = 4096;

uint64_t addressOf(const void *memory) { return reinterpret_cast<uint64_t>(memory); }

/// Maps the memory by its dma-buf alone; null: it cannot be mapped.
std::shared_ptr<std::byte> map(const DeviceMemory &memory) {
  off_t at = lseek(memory.dmaBuf, 0, SEEK_CUR);
  uint64_t bytes =
      (memory.dmaBufOffset + memory.memory.iov_len + kPageBytes - 1) & ~(kPageBytes - 1);
  void *mapped = at < 0
                     ? MAP_FAILED
                     : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory.dmaBuf, at);
  if (mapped == MAP_FAILED)
    return nullptr;
  std::shared_ptr<std::byte> whole(static_cast<std::byte *>(mapped),
                                   [bytes](std::byte *begin) { munmap(begin, bytes); });
  return {whole, whole.get() + memory.dmaBufOffset};
}

} // namespace

class FakeNetwork::RankTransport final : public network::Transport {
public:
  RankTransport(FakeNetwork &network, Rank rank) : network_(network), rank_(rank) {
    capabilities_.name = "fake network";
    capabilities_.pieces = capabilities_.remoteIovs = network.options_.pieces;
    capabilities_.hasRma = capabilities_.usesVirtualAddresses = true;
    capabilities_.needsLocalRegistration = capabilities_.pinsPages = true;
    capabilities_.registersDevice = network.options_.registersDevice;
  }
  ~RankTransport() override { stop(); }

  Result<std::vector<std::byte>> address() const override {
    return std::vector<std::byte>{std::byte(index(rank_))};
  }
  Status start(network::TransportHandler &handler, const network::Owner &) override {
    handler_ = &handler;
    return {};
  }
  Status reach(Peer &peer, const network::RankAddress &there) override {
    peer.handle = std::to_integer<uint64_t>(there.address[0]);
    return {};
  }

  PostResult send(Peer &to, Frame &frame) override {
    std::lock_guard guard(network_.mutex_);
    network_.inboxes_[to.handle].frames.emplace_back(frame.data, frame.data + frame.bytes);
    own().sent.push_back(&frame);
    return PostResult::Ok;
  }
  PostResult read(RmaOperation &rma, const RmaSpec &spec) override {
    return post(rma, spec, false);
  }
  PostResult write(RmaOperation &rma, const RmaSpec &spec) override {
    return post(rma, spec, true);
  }

  Result<Region> registerMemory(std::span<const iovec> pieces, Access) override {
    return Region(network_.enter({pieces.front(), nullptr}));
  }
  Result<Region> registerDevice(const DeviceMemory &memory) override {
    FakeDevice::noteRegistration();
    bool fails = network_.countDeviceRegistration() == network_.options_.failRegistrationAt;
    auto mapping = fails || memory.dmaBuf < 0 ? nullptr : map(memory);
    if (!mapping)
      return Status::error("no device memory can be registered");
    return Region(network_.enter({memory.memory, std::move(mapping)}));
  }

  bool poll() override;
  std::optional<Wait> ifIdle() override { return Wait{-1, std::chrono::microseconds(20)}; }
  void stop() override {
    std::lock_guard guard(network_.mutex_);
    own() = {};
  }
  uint64_t numRefused() const override { return 0; }
  uint64_t bytes() const override { return 0; }

private:
  Inbox &own() { return network_.inboxes_[index(rank_)]; }

  PostResult post(RmaOperation &rma, const RmaSpec &spec, bool writes) {
    std::lock_guard guard(network_.mutex_);
    Transfer made{&rma,
                  {},
                  {},
                  {spec.remoteIovs.begin(), spec.remoteIovs.end()},
                  spec.key,
                  writes,
                  spec.isSilent,
                  spec.immediate,
                  rma.peer->handle};
    for (uint32_t i = 0; i < spec.count; ++i) {
      made.pieces.push_back(spec.pieces[i]);
      made.keys.push_back(addressOf(spec.descriptors[i]));
    }
    if (made.there.empty())
      made.there.push_back({spec.address, spec.bytes});
    own().transfers.push_back(std::move(made));
    return PostResult::Ok;
  }

  FakeNetwork &network_;
  Rank rank_;
  network::TransportHandler *handler_ = nullptr;
};

FakeNetwork::FakeNetwork(uint32_t numRanks, const FakeNetworkOptions &options)
    : options_(options), random_(options.seed), inboxes_(numRanks) {}

std::unique_ptr<network::Transport> FakeNetwork::open(Rank rank) {
  return std::make_unique<RankTransport>(*this, rank);
}

uint64_t FakeNetwork::carryOutStalled() {
  std::lock_guard guard(mutex_);
  uint64_t moved = 0;
  for (Inbox &inbox : inboxes_)
    for (const Transfer &transfer : inbox.transfers)
      moved += carryOut(transfer);
  return moved;
}

uint64_t FakeNetwork::countDeviceRegistration() {
  std::lock_guard guard(mutex_);
  return ++deviceRegistrations_;
}

uint64_t FakeNetwork::registeredDevices() const {
  std::lock_guard guard(mutex_);
  return static_cast<uint64_t>(
      std::count_if(registrations_.begin(), registrations_.end(),
                    [](const auto &entry) { return entry.second.mapping != nullptr; }));
}

std::unique_ptr<Region::Registration> FakeNetwork::enter(Registration made) {
  struct Known final : Region::Registration {
    Known(FakeNetwork &ofNetwork, uint64_t itsKey, bool itIsOnDevice)
        : network(ofNetwork), isOnDevice(itIsOnDevice) {
      key = itsKey;
      descriptor = reinterpret_cast<void *>(itsKey);
    }
    ~Known() override {
      if (isOnDevice)
        FakeDevice::noteRegistration();
      std::lock_guard guard(network.mutex_);
      network.registrations_.erase(key);
    }
    FakeNetwork &network;
    const bool isOnDevice;
  };
  std::lock_guard guard(mutex_);
  bool isOnDevice = made.mapping != nullptr;
  registrations_[++keys_] = std::move(made);
  return std::make_unique<Known>(*this, keys_, isOnDevice);
}

// Null: these bytes are not registered.
const FakeNetwork::Registration *FakeNetwork::find(uint64_t key, uint64_t address, uint64_t bytes) {
  auto found = registrations_.find(key);
  if (found == registrations_.end())
    return nullptr;
  uint64_t begin = addressOf(found->second.memory.iov_base);
  bool isInside = address >= begin && address + bytes <= begin + found->second.memory.iov_len;
  return isInside ? &found->second : nullptr;
}

// False: some memory is not registered.
bool FakeNetwork::copy(uint64_t toKey, uint64_t to, uint64_t fromKey, uint64_t from,
                       uint64_t bytes) {
  const Registration *target = find(toKey, to, bytes), *source = find(fromKey, from, bytes);
  if (!target || !source)
    return false;
  auto placeOf = [](const Registration &memory, uint64_t address) {
    return memory.mapping ? memory.mapping.get() + (address - addressOf(memory.memory.iov_base))
                          : reinterpret_cast<std::byte *>(address);
  };
  for (const Registration *memory : {source, target})
    if (memory->mapping)
      FakeDevice::noteTransfer(memory->memory.iov_base);
  const std::byte *read = placeOf(*source, from);
  std::byte *written = placeOf(*target, to);
  bytesFromDevice_ += source->mapping ? bytes : 0;
  (target->mapping ? bytesIntoDevice_ : bytesIntoHost_) += bytes;
  if (!target->mapping) {
    std::memcpy(written, read, bytes);
    return true;
  }
  std::vector<std::byte> content(read, read + bytes);
  FakeDevice::writeRemotely([content, written, kept = target->mapping] {
    std::memcpy(written, content.data(), content.size());
  });
  return true;
}

bool FakeNetwork::carryOut(const Transfer &transfer) {
  size_t piece = 0;
  uint64_t used = 0;
  for (auto [address, bytes] : transfer.there)
    while (bytes > 0) {
      const iovec &here = transfer.pieces[piece];
      uint64_t part = std::min<uint64_t>(bytes, here.iov_len - used),
               own = addressOf(here.iov_base) + used;
      uint64_t key = transfer.keys[piece];
      if (!(transfer.writes ? copy(transfer.key, address, key, own, part)
                            : copy(key, own, transfer.key, address, part)))
        return false;
      address += part;
      bytes -= part;
      used += part;
      if (used == here.iov_len) {
        ++piece;
        used = 0;
      }
    }
  return true;
}

// Handlers are called without the lock, since they post again.
bool FakeNetwork::RankTransport::poll() {
  std::deque<Operation *> sent;
  std::deque<std::vector<std::byte>> frames;
  std::deque<uint32_t> written;
  std::optional<Transfer> transfer;
  bool isFine = true;
  {
    std::lock_guard guard(network_.mutex_);
    sent.swap(own().sent);
    frames.swap(own().frames);
    written.swap(own().written);
    std::vector<Transfer> &open = own().transfers;
    bool moves = !open.empty() && network_.random_() % 2 == 0;
    if (moves && !(network_.options_.stallsTransfers && open.front().writes)) {
      size_t which = network_.random_() % open.size();
      transfer = std::move(open[which]);
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(which));
      isFine =
          ++network_.transfers_ != network_.options_.failTransferAt && network_.carryOut(*transfer);
      if (isFine && transfer->writes && !transfer->isSilent)
        network_.inboxes_[transfer->peer].written.push_back(transfer->immediate);
    }
  }
  for (Operation *operation : sent)
    handler_->onDone(*operation);
  for (const std::vector<std::byte> &frame : frames)
    handler_->onBytes(frame);
  for (uint32_t immediate : written)
    handler_->onRemoteWrite(immediate);
  if (transfer && isFine)
    handler_->onDone(*transfer->rma);
  else if (transfer)
    handler_->onFailed(*transfer->rma, "the network failed");
  return !sent.empty() || !frames.empty() || !written.empty() || transfer;
}

} // namespace colldsl::test
