/// Stands in for a rank that is busy with something else and looks at no packets: a thread with a
/// socket of its own, which sleeps until another rank asks. It answers that the process lives, and
/// sees that somebody looks at what the other one waits for.
#pragma once

#include "ir/Result.h"
#include "transports/datagram/Packet.h"

#include <functional>
#include <memory>
#include <mutex>
#include <netinet/in.h>
#include <thread>

namespace colldsl::datagram {

class Pulse {
public:
  /// Bound to this address, of this machine, in the order of the network. `token`: of this rank.
  static Result<std::unique_ptr<Pulse>> start(in_addr address, Rank self, uint64_t token);
  /// From now on the thread calls this whenever it is asked.
  void attendBy(std::function<void()> attend);
  ~Pulse();
  Pulse(const Pulse &) = delete;
  Pulse &operator=(const Pulse &) = delete;

  in_port_t port() const { return port_; } ///< in the order of the network

private:
  Pulse(Rank self, uint64_t token) : self_(self), token_(token) {}
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
