#include "transports/network/Watch.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace colldsl::network {
namespace {

// Guests that have not said the token yet: half of the files that a process mostly may have.
constexpr std::ptrdiff_t kMostUnknown = 512;

constexpr char kGaveUp = 0, kFailed = 1;

struct Word {
  char what;
  FailureBody failure;
};

Status failure(const std::string &what) {
  return Status::error("cannot " + what + ": " + std::strerror(errno));
}

/// The kernel asks the other machine now and then, and ends what gets no answer for so long.
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

/// Whether it says that the other machine is not there, rather than its process.
bool isSilence(int error) {
  return error == ETIMEDOUT || error == EHOSTUNREACH || error == ENETUNREACH ||
         error == EHOSTDOWN || error == ENETDOWN || error == ENOTCONN;
}

} // namespace

Result<std::unique_ptr<Watch>> Watch::open(const std::string &address, Rank self, uint64_t token,
                                           std::chrono::milliseconds silence) {
  std::unique_ptr<Watch> watch(new Watch(self, token, silence));
  Result<Address> known = readAddress(address);
  if (!known)
    return known.status();
  SocketName name(*known, 0);
  watch->listener_ = socket(name.name.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (watch->listener_ < 0)
    return failure("make a socket");
  if (bind(watch->listener_, name.get(), name.bytes) != 0)
    return failure("bind a socket to " + address);
  if (listen(watch->listener_, SOMAXCONN) != 0)
    return failure("listen at " + address);
  return watch;
}

Watch::~Watch() {
  for (const pollfd &file : files_)
    close(file.fd);
  if (listener_ >= 0)
    close(listener_);
}

void Watch::describe(Card &card) const {
  SocketName name;
  getsockname(listener_, name.get(), &name.bytes);
  card.watchAddress = name.address();
  card.watchPort = name.port();
}

void Watch::add(int fd, short events, const Line &line) {
  limitSilence(fd, silence_);
  files_.push_back({fd, events, 0});
  lines_.push_back(line);
}

// A process that is gone refuses; that is found by the next look.
void Watch::add(Rank rank, const Card &card) {
  auto isIt = [&](const Line &line) { return line.rank == rank && line.token != 0; };
  if (std::any_of(lines_.begin(), lines_.end(), isIt))
    return;
  SocketName name(card.watchAddress, card.watchPort);
  int fd = socket(name.name.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0)
    return; // its end is noticed when something is said to it
  add(fd, POLLIN | POLLOUT, {rank, false, card.token});
  (void)!connect(fd, name.get(), name.bytes);
}

void Watch::acceptAll() {
  for (;;) {
    int fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0)
      return;
    add(fd, POLLIN, {});
    limitUnknown();
  }
}

// Who came last may be a rank, which says so soon; who came first had the time.
void Watch::limitUnknown() {
  auto isUnknown = [](const Line &line) { return line.rank == kNoRank; };
  if (std::count_if(lines_.begin(), lines_.end(), isUnknown) <= kMostUnknown)
    return;
  auto first = std::find_if(lines_.begin(), lines_.end(), isUnknown);
  auto place = static_cast<size_t>(first - lines_.begin());
  if (!hearHello(place))
    drop(place);
}

bool Watch::greet(size_t i) {
  Hello hello{lines_[i].token, self_};
  if (send(files_[i].fd, &hello, sizeof hello, MSG_NOSIGNAL) != sizeof hello)
    return false;
  lines_[i].isGreeted = true;
  files_[i].events = POLLIN;
  if (failure_)
    sayFailure(i);
  return true;
}

bool Watch::hearHello(size_t i) {
  Hello hello;
  if (recv(files_[i].fd, &hello, sizeof hello, 0) != sizeof hello || hello.token != token_ ||
      hello.self == kNoRank) {
    ++refused_;
    return false;
  }
  lines_[i].rank = hello.self;
  if (failure_)
    sayFailure(i);
  return true;
}

// It is short, and nothing is before it: there will be room.
void Watch::tell(const FailureBody &failure) {
  acceptAll();
  failure_ = failure;
  for (size_t i = 0; i < files_.size(); ++i)
    if (lines_[i].rank != kNoRank && lines_[i].isGreeted)
      sayFailure(i);
}

void Watch::sayFailure(size_t i) {
  Word word{kFailed, *failure_};
  (void)!send(files_[i].fd, &word, sizeof word, MSG_NOSIGNAL);
}

// The rest of it is perhaps on its way.
bool Watch::hearFailure(size_t i, std::vector<News> &news) {
  Word word;
  if (recv(files_[i].fd, &word, sizeof word, MSG_PEEK) != sizeof word)
    return true;
  (void)!recv(files_[i].fd, &word, sizeof word, 0);
  news.push_back({lines_[i].rank, What::Failed, 0, word.failure});
  return true;
}

// After the hello nothing is said but what is wrong. False: the line has ended.
bool Watch::attend(size_t i, std::vector<News> &news) {
  Line &line = lines_[i];
  if (line.rank == kNoRank)
    return hearHello(i);
  bool isReady = (files_[i].revents & POLLOUT) != 0 && !line.isGreeted;
  if (files_[i].revents == POLLOUT)
    return !isReady || greet(i);
  char word = 0;
  ssize_t heard = recv(files_[i].fd, &word, 1, MSG_PEEK);
  if (heard == 1 && word == kFailed)
    return hearFailure(i, news);
  int error = heard < 0 ? errno : 0;
  news.push_back({line.rank,
                  heard == 1         ? What::GaveUp
                  : isSilence(error) ? What::Silent
                                     : What::Died,
                  error});
  return false;
}

void Watch::drop(size_t i) {
  close(files_[i].fd);
  auto place = static_cast<std::ptrdiff_t>(i);
  files_.erase(files_.begin() + place);
  lines_.erase(lines_.begin() + place);
}

void Watch::look(std::vector<News> &news) {
  acceptAll();
  if (::poll(files_.data(), files_.size(), 0) <= 0)
    return;
  for (size_t i = files_.size(); i-- > 0;)
    if (files_[i].revents != 0 && !attend(i, news))
      drop(i);
}

void Watch::giveUp(Rank rank) {
  for (size_t i = files_.size(); i-- > 0;)
    if (lines_[i].rank == rank) {
      if (!lines_[i].isGreeted)
        greet(i);
      (void)!send(files_[i].fd, &kGaveUp, 1, MSG_NOSIGNAL);
      drop(i);
    }
}

} // namespace colldsl::network
