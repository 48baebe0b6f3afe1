/// A network of RDMA devices for tests, between ranks of one process.
///
/// Each rank's device reads and writes registered memory alone: memory of the host at its
/// addresses, device memory by the dma-buf that it was registered with, which it maps. So it needs
/// no access to device memory at the addresses of the program. Reads and writes take place at a
/// later poll of their rank, in a seeded order.
#pragma once

#include "transports/network/ActiveMessages.h"

#include <deque>
#include <map>
#include <mutex>
#include <random>

namespace colldsl::test {

struct FakeNetworkOptions {
  uint64_t seed = 1;
  bool registersDevice = true;
  uint32_t pieces = 4;             ///< of memory, of a read or a write, at either end
  uint64_t failRegistrationAt = 0; ///< this registration of device memory fails, from 1 on; 0: none
  bool stallsTransfers = false;    ///< writes never end
  uint64_t failTransferAt = 0;     ///< this read or write moves nothing and fails; 0: none
};

/// All devices. Outlives the transports. Thread safe.
class FakeNetwork {
public:
  FakeNetwork(uint32_t numRanks, const FakeNetworkOptions &options);

  /// The transport of one rank, once.
  std::unique_ptr<network::Transport> open(Rank rank);

  /// Carries out what stalls, as a device does by itself, and reports nothing to the ranks. Returns
  /// the number of reads and writes whose memory was registered.
  uint64_t carryOutStalled();

  /// Bytes that reads and writes moved from device memory, and into it.
  uint64_t bytesFromDevice() const { return locked(bytesFromDevice_); }
  uint64_t bytesIntoDevice() const { return locked(bytesIntoDevice_); }
  /// Bytes that they moved into memory of the host.
  uint64_t bytesIntoHost() const { return locked(bytesIntoHost_); }
  /// Registrations of device memory that were tried, and those that there are.
  uint64_t deviceRegistrations() const { return locked(deviceRegistrations_); }
  uint64_t registeredDevices() const;

private:
  class RankTransport;
  /// Memory of the host, or a mapping of device memory.
  struct Registration {
    iovec memory;
    std::shared_ptr<std::byte> mapping; ///< null: memory of the host
  };
  struct Transfer {
    network::RmaOperation *rma;
    std::vector<iovec> pieces;
    std::vector<uint64_t> keys; ///< of these
    std::vector<network::RemoteIov> there;
    uint64_t key;
    bool writes, isSilent;
    uint32_t immediate;
    uint64_t peer;
  };
  /// The events of one rank that its next polls report.
  struct Inbox {
    std::deque<std::vector<std::byte>> frames;
    std::deque<uint32_t> written;
    std::vector<Transfer> transfers; ///< of this rank, not done yet
    std::deque<network::Operation *> sent;
  };

  template <typename T> T locked(const T &value) const {
    std::lock_guard guard(mutex_);
    return value;
  }
  std::unique_ptr<network::Region::Registration> enter(Registration made);
  uint64_t countDeviceRegistration();
  const Registration *find(uint64_t key, uint64_t address, uint64_t bytes);
  bool carryOut(const Transfer &transfer);
  bool copy(uint64_t toKey, uint64_t to, uint64_t fromKey, uint64_t from, uint64_t bytes);

  FakeNetworkOptions options_;
  mutable std::mutex mutex_;
  std::mt19937_64 random_;
  std::vector<Inbox> inboxes_;                     ///< by rank
  std::map<uint64_t, Registration> registrations_; ///< by key
  uint64_t keys_ = 0, transfers_ = 0;
  uint64_t bytesFromDevice_ = 0, bytesIntoDevice_ = 0, bytesIntoHost_ = 0;
  uint64_t deviceRegistrations_ = 0;
};

} // namespace colldsl::test
