/// The kernel's calls for datagrams, and the time, in one place, so that tests can lose, repeat and
/// reorder packets, let calls fail, and turn the clock. Each does what its namesake does; an error
/// is a negative errno.
#pragma once

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <sys/socket.h>

namespace colldsl::datagram {

/// Nanoseconds of a clock that never goes back.
using TimeNs = int64_t;

class Calls {
public:
  virtual ~Calls() = default;

  virtual int send(int fd, mmsghdr *messages, unsigned count) {
    int sent = sendmmsg(fd, messages, count, MSG_DONTWAIT | MSG_NOSIGNAL);
    return sent < 0 ? -errno : sent;
  }
  virtual int receive(int fd, mmsghdr *messages, unsigned count) {
    int received = recvmmsg(fd, messages, count, MSG_DONTWAIT, nullptr);
    return received < 0 ? -errno : received;
  }
  virtual TimeNs now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

  /// The calls of production.
  static Calls &real() {
    static Calls calls;
    return calls;
  }
};

} // namespace colldsl::datagram
