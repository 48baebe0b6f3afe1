/// Answers for a rank that computes and polls no packets: a thread with a socket of its own, which
/// sleeps until a keepalive comes. It answers that the process lives, and has the packets of this
/// rank polled.
#pragma once

#include "ir/Result.h"
#include "transports/datagram/Packet.h"

#include <functional>
#include <memory>
#include <mutex>
#include <netinet/in.h>
#include <thread>

namespace colldsl::datagram {

class Keepalive {
public:
  /// Starts the thread, with a socket that is bound to this address of this machine, in network
  /// byte order. `token`: of this rank.
  static Result<std::unique_ptr<Keepalive>> start(in_addr address, Rank self, uint64_t token);
  /// Lets the thread call `attend` for each keepalive from now on.
  void attendBy(std::function<void()> attend);
  ~Keepalive();
  Keepalive(const Keepalive &) = delete;
  Keepalive &operator=(const Keepalive &) = delete;

  in_port_t port() const { return port_; } ///< in the order of the network

private:
  Keepalive(Rank self, uint64_t token) : self_(self), token_(token) {}
  void answerAll();
  void answer(std::span<const std::byte> datagram, const sockaddr_in &from);

  Rank self_;
  uint64_t token_;
  int socket_ = -1;
  int end_ = -1; ///< readable: the thread is to end
  in_port_t port_ = 0;
  std::mutex mutex_; ///< of attend_
  std::function<void()> attend_;
  std::thread thread_;
};

} // namespace colldsl::datagram
