#include "transports/network/ProcessMonitor.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace colldsl::network {
namespace {

// The most connections without a token yet: half of the files that a process mostly may have.
constexpr std::ptrdiff_t kMaxUnknown = 512;

constexpr char kDisconnected = 0, kFailed = 1;

struct Word {
  char what;
  FailureBody failure;
};

Status failure(const std::string &what) {
  return Status::error("cannot " + what + ": " + std::strerror(errno));
}

/// Lets the kernel probe the other machine now and then, and end a connection that gets no answer
/// for so long.
void limitSilence(int fd, std::chrono::milliseconds silence) {
  auto set = [fd](int level, int name, auto value) {
    int number = static_cast<int>(value);
    (void)setsockopt(fd, level, name, &number, sizeof number);
  };
  auto seconds = std::chrono::duration_cast<std::chrono::seconds>(silence).count();
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, std::max<int64_t>(1, seconds / 3));
  set(IPPROTO_TCP, TCP_KEEPINTVL, 1);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, silence.count());
}

/// True if the error means that the other machine is not there, rather than its process.
bool isSilence(int error) {
  return error == ETIMEDOUT || error == EHOSTUNREACH || error == ENETUNREACH ||
         error == EHOSTDOWN || error == ENETDOWN || error == ENOTCONN;
}

} // namespace

Result<std::unique_ptr<ProcessMonitor>> ProcessMonitor::open(const std::string &address, Rank self,
                                                             uint64_t token,
                                                             std::chrono::milliseconds silence) {
  std::unique_ptr<ProcessMonitor> monitor(new ProcessMonitor(self, token, silence));
  Result<Address> known = readAddress(address);
  if (!known)
    return known.status();
  SocketName name(*known, 0);
  monitor->listener_ = socket(name.name.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (monitor->listener_ < 0)
    return failure("make a socket");
  if (bind(monitor->listener_, name.get(), name.bytes) != 0)
    return failure("bind a socket to " + address);
  if (listen(monitor->listener_, SOMAXCONN) != 0)
    return failure("listen at " + address);
  return monitor;
}

ProcessMonitor::~ProcessMonitor() {
  for (const pollfd &file : files_)
    close(file.fd);
  if (listener_ >= 0)
    close(listener_);
}

void ProcessMonitor::describe(RankAddress &rankAddress) const {
  SocketName name;
  getsockname(listener_, name.get(), &name.bytes);
  rankAddress.monitorAddress = name.address();
  rankAddress.monitorPort = name.port();
}

void ProcessMonitor::add(int fd, short events, const Connection &connection) {
  limitSilence(fd, silence_);
  files_.push_back({fd, events, 0});
  connections_.push_back(connection);
}

// A process that is gone refuses the connection; the next poll finds that.
void ProcessMonitor::add(Rank rank, const RankAddress &rankAddress) {
  auto isIt = [&](const Connection &connection) {
    return connection.rank == rank && connection.token != 0;
  };
  if (std::any_of(connections_.begin(), connections_.end(), isIt))
    return;
  SocketName name(rankAddress.monitorAddress, rankAddress.monitorPort);
  int fd = socket(name.name.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0)
    return; // its end is noticed when something is sent to it
  add(fd, POLLIN | POLLOUT, {rank, false, rankAddress.token});
  (void)!connect(fd, name.get(), name.bytes);
}

void ProcessMonitor::acceptAll() {
  for (;;) {
    int fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0)
      return;
    add(fd, POLLIN, {});
    limitUnknown();
  }
}

// Drops the oldest unknown connection: the newest may be a rank that will identify itself soon, the
// oldest had the time.
void ProcessMonitor::limitUnknown() {
  auto isUnknown = [](const Connection &connection) { return connection.rank == kNoRank; };
  if (std::count_if(connections_.begin(), connections_.end(), isUnknown) <= kMaxUnknown)
    return;
  auto first = std::find_if(connections_.begin(), connections_.end(), isUnknown);
  auto place = static_cast<size_t>(first - connections_.begin());
  if (!recvHello(place))
    drop(place);
}

bool ProcessMonitor::greet(size_t i) {
  Hello hello{connections_[i].token, self_};
  if (send(files_[i].fd, &hello, sizeof hello, MSG_NOSIGNAL) != sizeof hello)
    return false;
  connections_[i].isGreeted = true;
  files_[i].events = POLLIN;
  if (failure_)
    sendFailure(i);
  return true;
}

bool ProcessMonitor::recvHello(size_t i) {
  Hello hello;
  if (recv(files_[i].fd, &hello, sizeof hello, 0) != sizeof hello || hello.token != token_ ||
      hello.self == kNoRank) {
    ++refused_;
    return false;
  }
  connections_[i].rank = hello.self;
  if (failure_)
    sendFailure(i);
  return true;
}

// The message always finds room: it is short, and nothing is before it.
void ProcessMonitor::notify(const FailureBody &failure) {
  acceptAll();
  failure_ = failure;
  for (size_t i = 0; i < files_.size(); ++i)
    if (connections_[i].rank != kNoRank && connections_[i].isGreeted)
      sendFailure(i);
}

void ProcessMonitor::sendFailure(size_t i) {
  Word word{kFailed, *failure_};
  (void)!send(files_[i].fd, &word, sizeof word, MSG_NOSIGNAL);
}

// Leaves a message that is not whole: the rest of it is perhaps on its way.
bool ProcessMonitor::recvFailure(size_t i, std::vector<Event> &events) {
  Word word;
  if (recv(files_[i].fd, &word, sizeof word, MSG_PEEK) != sizeof word)
    return true;
  (void)!recv(files_[i].fd, &word, sizeof word, 0);
  events.push_back({connections_[i].rank, What::Failed, 0, word.failure});
  return true;
}

// After the hello nothing is sent but failures. False: the connection has ended.
bool ProcessMonitor::attend(size_t i, std::vector<Event> &events) {
  Connection &connection = connections_[i];
  if (connection.rank == kNoRank)
    return recvHello(i);
  bool isReady = (files_[i].revents & POLLOUT) != 0 && !connection.isGreeted;
  if (files_[i].revents == POLLOUT)
    return !isReady || greet(i);
  char word = 0;
  ssize_t received = recv(files_[i].fd, &word, 1, MSG_PEEK);
  if (received == 1 && word == kFailed)
    return recvFailure(i, events);
  int error = received < 0 ? errno : 0;
  events.push_back({connection.rank,
                    received == 1      ? What::Disconnected
                    : isSilence(error) ? What::Silent
                                       : What::Died,
                    error});
  return false;
}

void ProcessMonitor::drop(size_t i) {
  close(files_[i].fd);
  auto place = static_cast<std::ptrdiff_t>(i);
  files_.erase(files_.begin() + place);
  connections_.erase(connections_.begin() + place);
}

void ProcessMonitor::poll(std::vector<Event> &events) {
  acceptAll();
  if (::poll(files_.data(), files_.size(), 0) <= 0)
    return;
  for (size_t i = files_.size(); i-- > 0;)
    if (files_[i].revents != 0 && !attend(i, events))
      drop(i);
}

void ProcessMonitor::disconnect(Rank rank) {
  for (size_t i = files_.size(); i-- > 0;)
    if (connections_[i].rank == rank) {
      if (!connections_[i].isGreeted)
        greet(i);
      (void)!send(files_[i].fd, &kDisconnected, 1, MSG_NOSIGNAL);
      drop(i);
    }
}

} // namespace colldsl::network
