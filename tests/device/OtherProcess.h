/// A child of fork() for tests of memory that processes share.
#pragma once

#include <functional>
#include <sys/socket.h>
#include <sys/wait.h>
#include <type_traits>
#include <unistd.h>

namespace colldsl::test {

class OtherProcess {
public:
  /// One end of a connection that keeps messages whole.
  class Channel {
  public:
    explicit Channel(int descriptor) : descriptor_(descriptor) {}
    template <typename T> void send(const T &message) {
      static_assert(std::is_trivially_copyable_v<T>);
      (void)!write(descriptor_, &message, sizeof message);
    }
    /// False: the other end is closed.
    template <typename T> bool receive(T &message) {
      static_assert(std::is_trivially_copyable_v<T>);
      return read(descriptor_, &message, sizeof message) == sizeof message;
    }

  private:
    int descriptor_;
  };

  explicit OtherProcess(const std::function<void(Channel)> &body) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0)
      _exit(1);
    process_ = fork();
    if (process_ == 0) {
      close(ends[0]);
      body(Channel(ends[1]));
      _exit(0);
    }
    close(ends[1]);
    end_ = ends[0];
  }
  /// The child ends as its next receive() fails.
  ~OtherProcess() {
    close(end_);
    waitpid(process_, nullptr, 0);
  }
  OtherProcess(const OtherProcess &) = delete;
  OtherProcess &operator=(const OtherProcess &) = delete;

  Channel channel() { return Channel(end_); }

private:
  pid_t process_;
  int end_;
};

} // namespace colldsl::test
