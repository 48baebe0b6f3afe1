#include "transports/tcp/TcpTransport.h"

#include "transports/network/ActiveMessages.h"
#include "wireup/Interfaces.h"

#include <algorithm>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <unistd.h>

namespace colldsl::tcp {
namespace {

using network::Access;
using network::PostResult;
using network::Region;

constexpr size_t kReceivedBytes = 128 << 10;
constexpr int kEvents = 32;

/// The contents of a rank's address.
struct Place {
  Address address;
  uint16_t port = 0; ///< in network order
};

std::string textOf(int error) { return std::strerror(error); }

Status failure(const std::string &what) {
  return Status::error("cannot " + what + ": " + textOf(errno));
}

/// Connections to ranks take as many ports as they have addresses to go to, where the kernel
/// chooses the port when it knows where the connection goes.
void setOptions(int file) {
  int yes = 1;
  (void)setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  (void)setsockopt(file, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &yes, sizeof yes);
}

/// Memory that peers write until it is destroyed.
class Registered : public Region::Registration {
public:
  Registered(std::shared_ptr<Regions> regions, uint64_t ownKey, const iovec &memory)
      : regions_(std::move(regions)) {
    key = ownKey;
    regions_->emplace(key, memory);
  }
  ~Registered() override { regions_->erase(key); }

private:
  std::shared_ptr<Regions> regions_;
};

} // namespace

/// A peer that was reached.
struct TcpTransport::Link {
  network::Peer &peer;
  SocketName name;
  Connection *out = nullptr; ///< this rank sends on it
  std::string reason;        ///< why nothing can be sent any more
};

/// Closed, with a `file` of -1, until the end of the poll.
struct TcpTransport::Connection {
  int file;
  Link *link; ///< null: no Hello came yet
  bool isOpen;
  bool isWatchedForRoom = false;
  ItemParser incoming;
  ItemSender outgoing;
};

/// Takes the items of a connection.
class TcpTransport::Incoming : public ItemHandler {
public:
  Incoming(TcpTransport &transport, Connection &connection)
      : transport_(transport), connection_(connection) {}

  bool onHello(const Hello &hello) override {
    network::Peer *peer = hello.token == transport_.owner_.token
                              ? transport_.handler_->onConnectRequest(hello.from)
                              : nullptr;
    if (!peer || peer->handle == 0 || peer->isLost)
      return false;
    connection_.link = &transport_.linkOf(*peer);
    if (!connection_.link->out && connection_.link->reason.empty())
      connection_.link->out = &connection_;
    return true;
  }
  void onFrame(std::span<const std::byte> frame) override { transport_.handler_->onBytes(frame); }
  void onWritten(const WriteHead &write) override {
    transport_.handler_->onRemoteWrite(write.immediate);
  }
  void onStrayWrite() override { ++transport_.refused_; }

private:
  TcpTransport &transport_;
  Connection &connection_;
};

Result<Options> readOptions(NetworkSettings &settings) {
  Options options;
  if (Status s = settings.readBind("COLLDSL_TCP_BIND", options.bind); !s)
    return s;
  return options;
}

Result<std::unique_ptr<network::Transport>> open(const Options &options, Calls &calls) {
  Result<std::unique_ptr<TcpTransport>> transport = TcpTransport::open(options, calls);
  if (!transport)
    return transport.status();
  return std::unique_ptr<network::Transport>(transport.take());
}

TcpTransport::TcpTransport(const Options &options, Calls &calls)
    : options_(options), calls_(calls), received_(new std::byte[kReceivedBytes]) {
  capabilities_ = {.name = "tcp",
                   .pieces = network::kMaxPieces,
                   .hasRma = options.usesRma,
                   .usesVirtualAddresses = true,
                   .inOrderBytes = UINT64_MAX,
                   .holdsFrames = true};
}

Result<std::unique_ptr<TcpTransport>> TcpTransport::open(const Options &options, Calls &calls) {
  std::unique_ptr<TcpTransport> transport(new TcpTransport(options, calls));
  if (Status s = transport->openSockets(); !s)
    return s;
  return transport;
}

Status TcpTransport::openSockets() {
  Result<std::string> words = addressAt(options_.bind);
  if (!words)
    return words.status();
  Result<Address> address = readAddress(*words);
  if (!address)
    return address.status();
  address_ = *address;
  SocketName name(address_, 0);
  listener_ = socket(name.name.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (listener_ < 0)
    return failure("make a socket");
  if (bind(listener_, name.get(), name.bytes) != 0)
    return failure("bind a socket to " + *words);
  if (listen(listener_, SOMAXCONN) != 0 || getsockname(listener_, name.get(), &name.bytes) != 0)
    return failure("listen at " + *words);
  port_ = name.port();
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  epoll_event event = {.events = EPOLLIN, .data = {.ptr = nullptr}};
  if (epoll_ < 0 || epoll_ctl(epoll_, EPOLL_CTL_ADD, listener_, &event) != 0)
    return failure("wait for connections");
  return {};
}

TcpTransport::~TcpTransport() { stop(); }

void TcpTransport::stop() {
  for (const auto &connection : connections_)
    if (connection->file >= 0)
      ::close(connection->file);
  connections_.clear();
  done_.clear();
  for (const auto &link : links_)
    link->out = nullptr;
  for (int *file : {&listener_, &epoll_})
    if (*file >= 0)
      ::close(std::exchange(*file, -1));
}

Result<std::vector<std::byte>> TcpTransport::address() const {
  Place place{address_, port_};
  auto bytes = std::as_bytes(std::span(&place, 1));
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

Status TcpTransport::start(network::TransportHandler &handler, const network::Owner &owner) {
  handler_ = &handler;
  owner_ = owner;
  return {};
}

Status TcpTransport::reach(network::Peer &peer, const network::RankAddress &rankAddress) {
  Place there;
  if (rankAddress.addressBytes != sizeof there)
    return Status::error("it has no address for TCP");
  std::memcpy(&there, rankAddress.address.data(), sizeof there);
  links_.push_back(
      std::make_unique<Link>(Link{peer, SocketName(there.address, there.port), nullptr, ""}));
  peer.handle = links_.size();
  return {};
}

TcpTransport::Connection &TcpTransport::add(int file, Link *link) {
  setOptions(file);
  connections_.push_back(std::make_unique<Connection>(
      Connection{file, link, link == nullptr, false, ItemParser(link == nullptr), {}}));
  return *connections_.back();
}

/// Asks for events; for that of room, too, if something waits for it.
void TcpTransport::watch(Connection &connection, bool writable) {
  if (connection.isWatchedForRoom == writable)
    return;
  connection.isWatchedForRoom = writable;
  epoll_event event = {.events = EPOLLIN | (writable ? EPOLLOUT : 0u),
                       .data = {.ptr = &connection}};
  if (epoll_ctl(epoll_, EPOLL_CTL_MOD, connection.file, &event) != 0)
    handler_->onBroken("cannot wait for TCP: " + textOf(errno));
}

Status TcpTransport::connect(Link &link) {
  SocketName own(address_, 0);
  int file = socket(own.name.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (file < 0)
    return failure("make a socket");
  Connection &connection = add(file, &link);
  epoll_event event = {.events = EPOLLIN | EPOLLOUT, .data = {.ptr = &connection}};
  connection.isWatchedForRoom = true;
  if (bind(file, own.get(), own.bytes) != 0 ||
      (::connect(file, link.name.get(), link.name.bytes) != 0 && errno != EINPROGRESS) ||
      epoll_ctl(epoll_, EPOLL_CTL_ADD, file, &event) != 0) {
    Status why = failure("connect");
    connections_.pop_back();
    ::close(file);
    return why;
  }
  link.out = &connection;
  Hello hello{link.peer.token, owner_.self};
  (void)connection.outgoing.send(file, calls_, false, nullptr, std::as_bytes(std::span(&hello, 1)),
                                 {});
  return {};
}

PostResult TcpTransport::refuse(std::string reason) {
  reason_ = std::move(reason);
  return PostResult::Error;
}

PostResult TcpTransport::post(network::Peer &to, network::Operation &operation,
                              std::span<const std::byte> head, std::span<const iovec> pieces) {
  Link &link = linkOf(to);
  if (!link.reason.empty())
    return refuse(link.reason);
  if (!link.out)
    if (Status s = connect(link); !s)
      return refuse(link.reason = s.message());
  Connection &connection = *link.out;
  switch (connection.outgoing.send(connection.file, calls_, connection.isOpen, &operation, head,
                                   pieces)) {
  case ItemSender::Outcome::All:
    done_.push_back(&operation);
    return PostResult::Ok;
  case ItemSender::Outcome::Some:
    watch(connection, true);
    return PostResult::Ok;
  case ItemSender::Outcome::Failed:
    break;
  }
  return refuse(link.reason = textOf(static_cast<int>(-connection.outgoing.error())));
}

PostResult TcpTransport::send(network::Peer &to, network::Frame &frame) {
  ItemHead head{frame.bytes, ItemKind::Frame};
  iovec piece = {frame.data, frame.bytes};
  return post(to, frame, std::as_bytes(std::span(&head, 1)), {&piece, 1});
}

PostResult TcpTransport::write(network::RmaOperation &rma, const network::RmaSpec &spec) {
  WriteHead head;
  head.kind = spec.isSilent ? ItemKind::SilentWrite : ItemKind::Write;
  head.address = spec.address;
  head.bytes = spec.bytes;
  head.key = spec.key;
  head.immediate = spec.immediate;
  return post(*rma.peer, rma, std::as_bytes(std::span(&head, 1)), {spec.pieces, spec.count});
}

PostResult TcpTransport::read(network::RmaOperation &, const network::RmaSpec &) {
  return refuse("memory cannot be read over TCP");
}

Result<Region> TcpTransport::registerMemory(std::span<const iovec> pieces, Access access) {
  switch (access) {
  case Access::RemoteRead:
    return Status::error("memory cannot be read over TCP");
  case Access::RemoteWrite:
    return Region(std::make_unique<Registered>(regions_, ++nextKey_, pieces.front()));
  case Access::Send:
  case Access::Receive:
  case Access::Read:
  case Access::Write:
    break;
  }
  return Region();
}

// The handler may send meanwhile.
bool TcpTransport::reportDone() {
  if (done_.empty())
    return false;
  for (network::Operation *operation : std::exchange(done_, {}))
    handler_->onDone(*operation);
  return true;
}

bool TcpTransport::flush(Connection &connection) {
  switch (connection.outgoing.flush(connection.file, calls_, done_)) {
  case ItemSender::Outcome::All:
    watch(connection, false);
    return true;
  case ItemSender::Outcome::Some:
    return true;
  case ItemSender::Outcome::Failed:
    break;
  }
  lose(connection, textOf(static_cast<int>(-connection.outgoing.error())));
  return false;
}

// A connection that was refused or reset before it is accepted is the other end's concern.
bool TcpTransport::acceptAll() {
  for (bool moved = false;; moved = true) {
    int file = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (file < 0) {
      if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
        handler_->onBroken("cannot accept a connection: " + textOf(errno));
      return moved;
    }
    Connection &connection = add(file, nullptr);
    epoll_event event = {.events = EPOLLIN, .data = {.ptr = &connection}};
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, file, &event) != 0)
      handler_->onBroken("cannot wait for TCP: " + textOf(errno));
  }
}

/// Closes a connection, on which nothing can be sent any more. Operations that wait on it fail.
void TcpTransport::close(Connection &connection, const std::string &reason) {
  if (connection.file < 0)
    return;
  ::close(std::exchange(connection.file, -1));
  hasClosed_ = true;
  Link *link = connection.link;
  if (!link || link->out != &connection)
    return;
  link->out = nullptr;
  link->reason = reason;
  std::vector<network::Operation *> dropped;
  connection.outgoing.drop(dropped);
  for (network::Operation *operation : dropped)
    handler_->onFailed(*operation, reason);
}

void TcpTransport::lose(Connection &connection, const std::string &reason) {
  Link *link = connection.link;
  if (!link)
    ++refused_;
  close(connection, reason);
  if (link)
    handler_->onLost(link->peer, reason);
}

void TcpTransport::receive(Connection &connection, bool &moved) {
  Incoming handler(*this, connection);
  switch (connection.incoming.receive(connection.file, calls_, {received_.get(), kReceivedBytes},
                                      *regions_, owner_.frameBytes, handler, moved)) {
  case ItemParser::Outcome::Ok:
    return;
  case ItemParser::Outcome::Closed:
    return close(connection, "it closed the connection");
  case ItemParser::Outcome::Failed:
    return lose(connection, connection.incoming.error());
  }
}

void TcpTransport::attend(Connection &connection, uint32_t events, bool &moved) {
  if (connection.file < 0)
    return; // an earlier event closed it
  if (!connection.isOpen) {
    int error = 0;
    socklen_t bytes = sizeof error;
    if (getsockopt(connection.file, SOL_SOCKET, SO_ERROR, &error, &bytes) != 0)
      error = errno;
    if (error != 0)
      return lose(connection, textOf(error));
    if ((events & EPOLLOUT) == 0)
      return;
    connection.isOpen = moved = true;
  }
  if ((events & EPOLLOUT) != 0) {
    moved = true;
    if (!flush(connection))
      return;
  }
  if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0)
    receive(connection, moved);
}

bool TcpTransport::poll() {
  bool moved = reportDone();
  epoll_event events[kEvents];
  int count = epoll_wait(epoll_, events, kEvents, 0);
  for (int i = 0; i < count; ++i) {
    if (auto *connection = static_cast<Connection *>(events[i].data.ptr))
      attend(*connection, events[i].events, moved);
    else
      moved |= acceptAll();
  }
  if (std::exchange(hasClosed_, false))
    std::erase_if(connections_, [](const auto &connection) { return connection->file < 0; });
  return reportDone() || moved;
}

std::optional<network::Transport::Wait> TcpTransport::ifIdle() {
  if (!done_.empty())
    return std::nullopt;
  return Wait{epoll_};
}

uint64_t TcpTransport::bytes() const {
  uint64_t sum = kReceivedBytes;
  for (const auto &connection : connections_)
    sum += connection->incoming.bytes();
  return sum;
}

} // namespace colldsl::tcp
