#include "transports/datagram/Keepalive.h"

#include "transports/datagram/Sockets.h"

#include <csignal>
#include <poll.h>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>

namespace colldsl::datagram {

Result<std::unique_ptr<Keepalive>> Keepalive::start(in_addr address, Rank self, uint64_t token) {
  std::unique_ptr<Keepalive> keepalive(new Keepalive(self, token));
  Result<Socket> socket = openSocket(address);
  if (!socket)
    return socket.status();
  keepalive->socket_ = socket->file;
  keepalive->port_ = socket->name.sin_port;
  keepalive->end_ = eventfd(0, EFD_CLOEXEC);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before); // signals are the program's, not this thread's
  Status started;
  try {
    keepalive->thread_ = std::thread([raw = keepalive.get()] { raw->answerAll(); });
  } catch (const std::system_error &e) {
    started = Status::error("datagram: cannot start a thread: " + e.code().message());
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!started)
    return started;
  return keepalive;
}

Keepalive::~Keepalive() {
  uint64_t one = 1;
  if (thread_.joinable() && write(end_, &one, sizeof one) == sizeof one)
    thread_.join();
  for (int file : {socket_, end_})
    if (file >= 0)
      close(file);
}

void Keepalive::attendBy(std::function<void()> attend) {
  std::lock_guard lock(mutex_);
  attend_ = std::move(attend);
}

void Keepalive::answerAll() {
  std::byte datagram[kMaxPacketBytes];
  pollfd files[] = {{socket_, POLLIN, 0}, {end_, POLLIN, 0}};
  while (files[1].revents == 0) {
    sockaddr_in from = {};
    socklen_t bytes = sizeof from;
    ssize_t size = recvfrom(socket_, datagram, sizeof datagram, 0,
                            reinterpret_cast<sockaddr *>(&from), &bytes);
    if (size >= 0)
      answer({datagram, static_cast<size_t>(size)}, from);
    else
      ::poll(files, 2, -1);
  }
}

void Keepalive::answer(std::span<const std::byte> datagram, const sockaddr_in &from) {
  std::optional<PacketView> request = parse(datagram, token_);
  if (!request || request->header.kind != PacketKind::Keepalive)
    return;
  PacketHeader alive;
  alive.kind = PacketKind::KeepaliveAck;
  alive.token = request->header.beyond;
  alive.from = self_;
  seal(alive, {});
  (void)sendto(socket_, &alive, sizeof alive, MSG_DONTWAIT | MSG_NOSIGNAL,
               reinterpret_cast<const sockaddr *>(&from), sizeof from);
  std::unique_lock lock(mutex_);
  std::function<void()> attend = attend_;
  lock.unlock(); // it takes locks of others
  if (attend)
    attend();
}

} // namespace colldsl::datagram
