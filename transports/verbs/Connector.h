/// Connects the queue pairs of ranks: over datagrams (UdConnector), or by librdmacm (CmConnector)
/// where a device has no other way.
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

  /// Destroys the queue pair, and the objects that connected it.
  virtual void close() { pair.reset(); }

  network::Peer &peer;
  QueuePair pair;
  State state = State::Idle;
};

/// The user of a connector: its ranks and queue pairs.
class ConnectorHost {
public:
  virtual ~ConnectorHost() = default;
  /// Returns the link for a connect request from rank `from` with this rank's token. Null: a
  /// stranger, or a lost peer.
  virtual Link *onConnectRequest(uint64_t token, Rank from) = 0;
  /// The attributes that queue pairs are to have.
  virtual ibv_qp_init_attr wantedPair() const = 0;
  /// Prepares a link whose pair is made, and is connected next: the peer has room for `frames`
  /// frames of this rank at once. Called where ranks share no receives.
  virtual Status prepare(Link &link, uint32_t frames) = 0;
  /// Takes prepare() back: the pair is gone, and another may follow.
  virtual void unprepare(Link &link) = 0;
  /// Sends the first message over a link that is ready; the peer waits for it.
  virtual void sendFirst(Link &link) = 0;
  /// Gives a link up that cannot be connected.
  virtual void lose(Link &link, const std::string &reason) = 0;
  /// Notes that no connection can be made any more.
  virtual void breakDown(const std::string &reason) = 0;
};

class Connector {
public:
  virtual ~Connector() = default;

  /// The address where others find this rank.
  virtual std::vector<std::byte> address() const = 0;
  /// Starts the connector, before all calls below. `transport` registers memory; it and `host`
  /// outlive this.
  virtual Status start(network::Transport &transport, ConnectorHost &host,
                       const network::Owner &owner) = 0;
  /// Makes the link to a peer that is not connected yet.
  virtual Result<std::unique_ptr<Link>> reach(network::Peer &peer,
                                              const network::RankAddress &rankAddress) = 0;
  /// Connects an idle link.
  virtual Status begin(Link &link) = 0;

  /// True if the completion is of a message of the connector's own, which it takes.
  virtual bool take(const ibv_wc &completion) = 0;
  /// Notes that a message of the peer came over the link.
  virtual void onFirstReceive(Link &link) = 0;
  /// Sends unanswered requests again, and takes events that do not come as completions. True:
  /// something moved.
  virtual bool poll() = 0;
  /// The event to wait for, when there is none now.
  virtual network::Transport::Wait wait() = 0;
  /// Stops the connector, after the links are closed.
  virtual void stop() = 0;

  virtual uint32_t completions() const = 0; ///< of its own, at most, in the device's queue
  virtual uint64_t numRefused() const = 0;
  virtual uint64_t bytes() const = 0;
};

} // namespace colldsl::verbs
