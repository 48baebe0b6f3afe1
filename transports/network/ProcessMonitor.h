/// Notices that the processes of other ranks are gone: a connection to each whose plans are shared,
/// over which nothing but failures is sent once it stands. When a process dies its kernel closes
/// the connection, however busy the network is, and there is room for a failure when all else is
/// full.
///
/// The listening socket is bound to the address of the options. A peer that connects
/// sends the rank's token first, and its own rank, or is refused; of too many silent ones the
/// oldest is refused.
///
/// Not thread safe.
#pragma once

#include "ir/Result.h"
#include "transports/network/Wire.h"

#include <chrono>
#include <memory>
#include <optional>
#include <poll.h>
#include <vector>

namespace colldsl::network {

class ProcessMonitor {
public:
  /// `address`: of this machine. `token`: this rank's. `silence`: how long a machine may
  /// answer nothing.
  static Result<std::unique_ptr<ProcessMonitor>>
  open(const std::string &address, Rank self, uint64_t token, std::chrono::milliseconds silence);
  ~ProcessMonitor();
  ProcessMonitor(const ProcessMonitor &) = delete;
  ProcessMonitor &operator=(const ProcessMonitor &) = delete;

  /// Writes into the address where others connect.
  void describe(RankAddress &rankAddress) const;

  /// Watches a rank from now on. Without effect if it is watched already.
  void add(Rank rank, const RankAddress &rankAddress);

  enum class What : uint8_t {
    Died,         ///< its process is gone
    Disconnected, ///< it lives, but cannot reach this rank any more
    Silent,       ///< unknown: its machine answers nothing
    Failed,       ///< it has reported so
  };
  struct Event {
    Rank rank;
    What what;
    int error = 0;            ///< Silent: the kernel's error
    FailureBody failure = {}; ///< Failed: as it came
  };

  /// Appends the events to `events`. Few system calls unless something happened.
  void poll(std::vector<Event> &events);

  /// Notifies all ranks that this one watches, or that watch it, of a failure: they learn of it
  /// even if this rank never polls again. A later connection is notified by the next poll.
  void notify(const FailureBody &failure);

  /// Notifies a rank that this one cannot reach it any more, and watches it no longer.
  void disconnect(Rank rank);

  uint64_t numRefused() const { return refused_; } ///< strangers

private:
  struct Hello {
    uint64_t token = 0;
    Rank self = kNoRank;
    uint32_t unused = 0;
  };
  struct Connection {
    Rank rank = kNoRank; ///< at the other end; kNoRank: not known yet
    bool isGreeted = true;
    uint64_t token = 0; ///< token that it expects
  };

  ProcessMonitor(Rank self, uint64_t token, std::chrono::milliseconds silence)
      : self_(self), token_(token), silence_(silence) {}
  void acceptAll();
  void limitUnknown();
  void add(int fd, short events, const Connection &connection);
  bool greet(size_t i);
  bool recvHello(size_t i);
  void sendFailure(size_t i);
  bool recvFailure(size_t i, std::vector<Event> &events);
  bool attend(size_t i, std::vector<Event> &events);
  void drop(size_t i);

  Rank self_;
  uint64_t token_;
  std::chrono::milliseconds silence_;
  uint64_t refused_ = 0;
  std::optional<FailureBody> failure_; ///< the failure that was reported
  int listener_ = -1;
  std::vector<Connection>
      connections_;           ///< those that this rank made, and those of others, as they came
  std::vector<pollfd> files_; ///< parallel to connections_
};

} // namespace colldsl::network
