#include "transports/ofi/Watch.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace colldsl::ofi {
namespace {

// Guests that have not said the token yet. More are strangers.
constexpr size_t kMostUnknown = 1024;

Status failure(const std::string &what) {
  return Status::error("cannot " + what + ": " + std::strerror(errno));
}

} // namespace

Result<std::unique_ptr<Watch>> Watch::open(const std::string &address, uint64_t token) {
  std::unique_ptr<Watch> watch(new Watch(token));
  sockaddr_in name = {};
  name.sin_family = AF_INET;
  if (inet_pton(AF_INET, address.c_str(), &name.sin_addr) != 1)
    return Status::error("'" + address + "' is not an IPv4 address");
  watch->listener_ = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (watch->listener_ < 0)
    return failure("make a socket");
  if (bind(watch->listener_, reinterpret_cast<sockaddr *>(&name), sizeof name) != 0)
    return failure("bind a socket to " + address);
  if (listen(watch->listener_, SOMAXCONN) != 0)
    return failure("listen at " + address);
  return watch;
}

Watch::~Watch() {
  for (const pollfd &dialed : dialed_)
    if (dialed.fd >= 0)
      close(dialed.fd);
  for (const Guest &guest : guests_)
    close(guest.fd);
  if (listener_ >= 0)
    close(listener_);
}

void Watch::describe(Card &card) const {
  sockaddr_in name = {};
  socklen_t bytes = sizeof name;
  getsockname(listener_, reinterpret_cast<sockaddr *>(&name), &bytes);
  card.watchAddress = name.sin_addr.s_addr;
  card.watchPort = name.sin_port;
}

// A process that is gone refuses; that is found by the next look.
void Watch::add(Rank rank, const Card &card) {
  auto isIt = [&](const Watched &watched) { return watched.rank == rank; };
  if (std::any_of(watched_.begin(), watched_.end(), isIt))
    return;
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0)
    return; // its end is noticed when something is said to it
  sockaddr_in name = {};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = card.watchAddress;
  name.sin_port = card.watchPort;
  (void)!connect(fd, reinterpret_cast<sockaddr *>(&name), sizeof name);
  watched_.push_back({rank, card.token});
  dialed_.push_back({fd, POLLIN | POLLOUT, 0});
}

void Watch::acceptAll() {
  for (;;) {
    int fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0)
      return;
    auto isUnknown = [](const Guest &guest) { return !guest.isKnown; };
    if (std::count_if(guests_.begin(), guests_.end(), isUnknown) >=
        static_cast<std::ptrdiff_t>(kMostUnknown)) {
      ++refused_;
      close(fd);
      continue;
    }
    guests_.push_back({fd});
  }
}

// Nothing is said after the token, so whatever else comes is the end.
void Watch::hearGuest(size_t i) {
  uint64_t token = 0;
  ssize_t bytes = recv(guests_[i].fd, &token, sizeof token, 0);
  if (bytes < 0 && (errno == EAGAIN || errno == EINTR))
    return;
  if (!guests_[i].isKnown && bytes == sizeof token && token == token_) {
    guests_[i].isKnown = true;
    return;
  }
  refused_ += !guests_[i].isKnown;
  close(guests_[i].fd);
  guests_[i] = guests_.back();
  guests_.pop_back();
}

bool Watch::greet(size_t i) {
  if (send(dialed_[i].fd, &watched_[i].token, sizeof watched_[i].token, MSG_NOSIGNAL) < 0)
    return false;
  watched_[i].token = 0;
  dialed_[i].events = POLLIN;
  return true;
}

bool Watch::isGone(size_t i, short events) {
  if ((events & (POLLERR | POLLHUP | POLLIN)) != 0)
    return true; // nobody says anything here
  return (events & POLLOUT) != 0 && watched_[i].token != 0 && !greet(i);
}

void Watch::look(std::vector<Rank> &gone) {
  acceptAll();
  for (size_t i = guests_.size(); i-- > 0;)
    if (!guests_[i].isKnown)
      hearGuest(i);
  if (::poll(dialed_.data(), dialed_.size(), 0) <= 0)
    return;
  for (size_t i = 0; i < dialed_.size(); ++i)
    if (dialed_[i].fd >= 0 && dialed_[i].revents != 0 && isGone(i, dialed_[i].revents)) {
      gone.push_back(watched_[i].rank);
      close(dialed_[i].fd);
      dialed_[i].fd = -1;
    }
}

} // namespace colldsl::ofi
