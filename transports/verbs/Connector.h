/// How queue pairs of ranks come together: over datagrams (UdConnector), or by librdmacm
/// (CmConnector) where a device has no other way.
///
/// Nothing here waits, but librdmacm may: where a kernel makes the TCP connection for iWARP in its
/// call (siw), rdma_connect(3) lasts as long, and a call is given up only when it is answered or
/// the kernel gives it up. Not thread safe. Errors: values, and failures that the host is notified
/// of.
#pragma once

#include "transports/network/ActiveMessages.h"
#include "transports/verbs/Device.h"
#include "transports/verbs/VerbsCalls.h"

namespace colldsl::verbs {

/// Reads of one end's memory at once. More make nothing faster.
inline constexpr int kMaxReads = 16;

/// This end of a connection.
class Link {
public:
  enum class State : uint8_t {
    Idle,
    Begun,
    Ready ///< it may be sent over
  };
  explicit Link(network::Peer &peer) : peer(peer) {}
  virtual ~Link() = default;
  Link(const Link &) = delete;
  Link &operator=(const Link &) = delete;

  /// The queue pair is gone, and what it was connected by.
  virtual void close() { pair.reset(); }

  network::Peer &peer;
  QueuePair pair;
  State state = State::Idle;
};

/// The ranks and queue pairs that it connects.
class ConnectorHost {
public:
  virtual ~ConnectorHost() = default;
  /// A connect request from rank `from` with this rank's token. Null: a stranger, or a lost peer.
  virtual Link *onConnectRequest(uint64_t token, Rank from) = 0;
  /// What queue pairs are to be like.
  virtual ibv_qp_init_attr wantedPair() const = 0;
  /// The pair of a link is made, and connected next: the peer has room for `frames` frames of this
  /// rank at once. Where ranks share no receives.
  virtual Status prepare(Link &link, uint32_t frames) = 0;
  /// Nothing came of that: the pair is gone, and another may follow.
  virtual void unprepare(Link &link) = 0;
  /// It is ready; the peer waits for the first message.
  virtual void sendFirst(Link &link) = 0;
  /// Nothing will come of it.
  virtual void lose(Link &link, const std::string &reason) = 0;
  /// No connection can be made any more.
  virtual void breakDown(const std::string &reason) = 0;
};

class Connector {
public:
  virtual ~Connector() = default;

  /// Where others find this rank.
  virtual std::vector<std::byte> address() const = 0;
  /// Before all below. `carrier` registers memory; it and `host` outlive this.
  virtual Status start(network::Carrier &carrier, ConnectorHost &host,
                       const network::Owner &owner) = 0;
  /// A peer that is not connected yet.
  virtual Result<std::unique_ptr<Link>> reach(network::Peer &peer,
                                              const network::RankAddress &rankAddress) = 0;
  /// Connects an idle one.
  virtual Status begin(Link &link) = 0;

  /// Whether the completion is of a message of its own, which it takes.
  virtual bool take(const ibv_wc &completion) = 0;
  /// A message of the peer came over it.
  virtual void onFirstReceive(Link &link) = 0;
  /// Sends unanswered requests again, and takes what does not come as a completion. True: something
  /// moved.
  virtual bool poll() = 0;
  /// What to wait for, when there is no event.
  virtual network::Carrier::Wait wait() = 0;
  /// After the links are closed.
  virtual void stop() = 0;

  virtual uint32_t completions() const = 0; ///< of its own, at most, in the device's queue
  virtual uint64_t numRefused() const = 0;
  virtual uint64_t bytes() const = 0;
};

} // namespace colldsl::verbs
