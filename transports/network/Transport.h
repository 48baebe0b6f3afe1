/// The interface to a network's library that carries frames to other ranks, as ActiveMessages uses
/// it.
///
/// Frames to one peer arrive once and in order, or the peer is lost. A transport that has remote
/// memory access (RMA, Capabilities::hasRma) reads and writes memory of peers, in no order. Nothing
/// waits: the caller offers again after the next poll what the transport does not take now.
///
/// Ownership: a frame or an operation that the transport took stays where it is until the handler
/// is notified that it is done or failed. Errors: values, and losses that the handler is notified
/// of.
///
/// Not thread safe, but for what a Wait names.
#pragma once

#include "ir/Result.h"
#include "transports/network/NetworkOptions.h"
#include "transports/network/Wire.h"

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <sys/uio.h>
#include <vector>

namespace colldsl::network {

class Multicast;
struct Frame;
struct Peer;

/// The most pieces of memory of one read or write.
inline constexpr uint32_t kMaxPieces = 32;

/// The capabilities of a transport.
struct Capabilities {
  std::string_view name;             ///< of the transport
  uint64_t injectBytes = 0;          ///< frames up to this need no buffer of ours
  uint32_t frameBytes = UINT16_MAX;  ///< longer frames may be overtaken by those behind them
  uint32_t pieces = 1;               ///< of memory, at this end of a read or a write
  uint32_t remoteIovs = 1;           ///< at the other end of a write
  bool registersPieces = false;      ///< one registration may have several pieces
  uint64_t maxRmaBytes = UINT64_MAX; ///< of one read or write
  bool hasRma = false;               ///< reads and writes memory of peers
  bool usesVirtualAddresses = false; ///< remote addresses are virtual addresses; else offsets into
                                     ///< the registered memory
  bool needsLocalRegistration = false; ///< of the memory at this end of a read or a write, too
  bool pinsPages = false;              ///< by registration: the owner must not unmap the memory
  uint64_t inOrderBytes =
      0;                ///< the bytes of a write of up to so many become visible in their order
  bool batches = false; ///< offers between hold() and push() cost less
  bool immediateIsKey = false;  ///< a write brings the key of the memory as immediate data
  bool multicast = false;       ///< frames to several peers go once, unless a network has none
  bool registersDevice = false; ///< registerDevice() may succeed
  bool isWatched = true;        ///< a ProcessMonitor watches the processes of peers

  /// True if a frame that the transport has taken may wait in this process for the next poll().
  bool holdsFrames = false;

  /// Hardware that moves bytes without the kernel pins the pages.
  bool isMovedByKernel() const { return !pinsPages; }
};

/// The purpose of registered memory.
enum class Access : uint8_t { Send, Receive, Read, Write, RemoteRead, RemoteWrite };

/// Memory that others may reach, or that the transport must know. Empty: there is none.
class Region {
public:
  struct Registration {
    virtual ~Registration() = default;
    void *descriptor = nullptr; ///< as the transport knows it
    uint64_t key = 0;           ///< as peers name it
  };

  Region() = default;
  explicit Region(std::unique_ptr<Registration> known) : known_(std::move(known)) {}
  void *descriptor() const { return known_ ? known_->descriptor : nullptr; }
  uint64_t key() const { return known_->key; }
  explicit operator bool() const { return known_ != nullptr; }
  void reset() { known_.reset(); }

private:
  std::unique_ptr<Registration> known_;
};

/// An allocation of a GPU's memory that is to be registered.
struct DeviceMemory {
  iovec memory = {};         ///< at its addresses on the device
  uint64_t id = 0;           ///< no other allocation of this process has it, at any time
  int ordinal = 0;           ///< of the device, as CUDA counts them
  int dmaBuf = -1;           ///< file descriptor, which stays the caller's; -1: there is none
  uint64_t dmaBufOffset = 0; ///< of the memory in the dma-buf
};

/// An operation under way in the transport.
struct Operation {
  enum class Kind : uint8_t { Receive, Send, Rma };
  void *context[8] = {}; ///< the transport's; first: its address is the operation's
  Kind kind;
  bool isOpen = false; ///< else its completion was reported before
};

/// A read or a write of a peer's memory (remote memory access, RMA). Belongs to the caller that
/// starts it.
struct RmaOperation : Operation {
  RmaOperation() : Operation{.kind = Kind::Rma} {}
  Peer *peer = nullptr;
};

/// The two ends of a read or a write.
struct RmaSpec {
  iovec pieces[kMaxPieces] = {}; ///< here
  void *descriptors[kMaxPieces] = {};
  uint32_t count = 0;
  uint64_t address = 0;                       ///< there
  std::span<const RemoteIov> remoteIovs = {}; ///< of a write, in place of `address`; of all bytes
  uint64_t key = 0;
  uint64_t bytes = 0;
  bool isSilent = false;  ///< a write: the peer is not notified
  uint32_t immediate = 0; ///< of a write that is not: comes to the peer after the last byte
};

enum class PostResult : uint8_t {
  Ok,
  NoResource, ///< not now
  Error       ///< see reason()
};

/// Callbacks of a transport. They may call all of it but poll().
class TransportHandler {
public:
  virtual ~TransportHandler() = default;
  /// Receives a frame, or bytes that a stranger sent. They are valid during the call.
  virtual void onBytes(std::span<const std::byte> bytes) = 0;
  virtual void onDone(Operation &operation) = 0;
  virtual void onFailed(Operation &operation, const std::string &reason) = 0;
  /// The last byte of a write by a peer is here.
  virtual void onRemoteWrite(uint32_t immediate) = 0;
  virtual void onLost(Peer &peer, const std::string &reason) = 0;
  /// Returns the peer of a rank that sends its first message and has not been reached yet. Null: an
  /// unknown rank.
  virtual Peer *onConnectRequest(Rank from) = 0;
  /// From a thread of the transport's, which holds no lock: a peer waits for an answer, and no
  /// thread polls. The handler's owner is to lock itself and poll.
  virtual void onNeglected() = 0;
  virtual void onBroken(const std::string &reason) = 0; ///< nothing moves any more
};

/// The user of a transport.
struct Owner {
  Rank self = kNoRank;
  uint64_t token = 0;      ///< its own
  uint32_t frameBytes = 0; ///< longest frame that comes
};

class Transport {
public:
  virtual ~Transport() = default;

  const Capabilities &capabilities() const { return capabilities_; }

  /// The address where others find this rank: at most RankAddress::kMaxAddressBytes.
  virtual Result<std::vector<std::byte>> address() const = 0;

  /// Starts the transport, before all calls below. `handler` outlives it.
  virtual Status start(TransportHandler &handler, const Owner &owner) = 0;

  /// Enters a peer, whose rank and token are known. The transport sets its `handle`.
  virtual Status reach(Peer &peer, const RankAddress &rankAddress) = 0;

  virtual PostResult send(Peer &to, Frame &frame) = 0;
  /// Sends a frame of at most Capabilities::injectBytes, whose memory the caller may use again at
  /// once.
  virtual PostResult inject(Peer &, std::span<const std::byte>) { return PostResult::NoResource; }
  virtual PostResult read(RmaOperation &, const RmaSpec &) { return PostResult::Error; }
  virtual PostResult write(RmaOperation &, const RmaSpec &) { return PostResult::Error; }
  /// The reason why the transport refused the last offer.
  const std::string &reason() const { return reason_; }

  /// Lets the transport keep back later offers until push() or poll(). A hint.
  virtual void hold() {}
  virtual void push() {}

  /// Notes that this rank waits for a message of this peer, until expectLess() is called as often.
  /// A hint.
  virtual void expect(Peer &) {}
  virtual void expectLess(Peer &) {}

  /// The transport's multicast. Null: each frame goes to one peer.
  virtual Multicast *multicast() { return nullptr; }

  /// Registers one piece, or several with Capabilities::registersPieces: then the transport does
  /// not touch the memory between them. The pieces of one call are one region, written in their
  /// order.
  virtual Result<Region> registerMemory(std::span<const iovec>, Access) { return Region(); }

  /// Registers device memory to be read and written here and by peers.
  virtual Result<Region> registerDevice(const DeviceMemory &) {
    return Status::error("the transport reaches no device memory");
  }

  /// The address by which peers name `address`, which lies in registered memory that begins at
  /// `begin`.
  uint64_t remoteAddressOf(const void *address, const void *begin) const {
    return capabilities_.usesVirtualAddresses
               ? reinterpret_cast<uint64_t>(address)
               : static_cast<uint64_t>(static_cast<const char *>(address) -
                                       static_cast<const char *>(begin));
  }

  /// Takes the events that came. True: something moved.
  virtual bool poll() = 0;

  /// True if all frames that the transport took for a peer have arrived there.
  virtual bool isIdle(const Peer &) const { return true; }

  /// The event that an idle thread waits for.
  struct Wait {
    int file = -1; ///< readable: there is an event
    /// 0: events end no sleep now. The thread yields its core, and polls again.
    std::chrono::nanoseconds atMost = std::chrono::nanoseconds::max();
  };
  /// The event to wait for. Nothing, if there is an event now.
  virtual std::optional<Wait> ifIdle() = 0;

  /// Stops the transport. Afterwards it uses no memory of ours any more, and reports nothing.
  virtual void stop() = 0;
  /// Variant of stop() that holds if a read or a write has perhaps not ended.
  virtual void stopUnconfirmed() { stop(); }

  /// The number of frames that were refused for a wrong token, or as malformed.
  virtual uint64_t numRefused() const = 0;
  /// Bytes of memory for frames.
  virtual uint64_t bytes() const = 0;

protected:
  Capabilities capabilities_;
  std::string reason_;
};

} // namespace colldsl::network
