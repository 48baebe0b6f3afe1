/// The kernel's calls that move bytes of connections, in one place, so that tests can cut them
/// short and let them fail. Each returns a number of bytes, or a negative errno.
#pragma once

#include <cerrno>
#include <sys/socket.h>
#include <sys/uio.h>

namespace colldsl::tcp {

class Calls {
public:
  virtual ~Calls() = default;

  virtual ssize_t send(int file, const iovec *pieces, int count) {
    msghdr message = {};
    message.msg_iov = const_cast<iovec *>(pieces);
    message.msg_iovlen = static_cast<size_t>(count);
    ssize_t sent = sendmsg(file, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    return sent < 0 ? -errno : sent;
  }
  virtual ssize_t receive(int file, const iovec *pieces, int count) {
    ssize_t got = readv(file, pieces, count);
    return got < 0 ? -errno : got;
  }

  /// The calls of production.
  static Calls &real() {
    static Calls calls;
    return calls;
  }
};

} // namespace colldsl::tcp
