#include "transports/verbs/CmConnector.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>
#include <utility>

namespace colldsl::verbs {
namespace {

constexpr int kBacklog = 1024;
// The timeout of answers that kernels give without their processes.
constexpr int kTimeoutMs = 2000;
constexpr std::chrono::milliseconds kPause(100);
// The calls that must fail before a peer is lost: a rank that computes does not answer in time.
constexpr uint32_t kFewestCalls = 3;
// One in so many polls looks for connect requests, which is a system call.
constexpr uint32_t kPollsPerLook = 32;

std::string nameOf(const ibv_context *context) {
  return Library::get().get_device_name(context->device);
}

} // namespace

// A link that is begun has an end that called, or answered, or none until it calls again.
struct CmConnector::CmLink : Link {
  explicit CmLink(network::Peer &peer) : Link(peer) {}
  ~CmLink() override { pair.reset(); }
  void close() override {
    pair.reset();
    id.reset();
  }

  Address address;
  CmId id;
  bool hasCalled = false;
  uint32_t noWays = 0; ///< of its last calls
  Clock::time_point noWaySince = Clock::now();
  Clock::time_point againAt = Clock::time_point::max();
};

Status CmConnector::failed(const char *what) const {
  return deviceError(what, device_.context(), errno);
}

Result<std::unique_ptr<Connector>> CmConnector::open(Device &device, const Options &options,
                                                     Calls &calls) {
  std::unique_ptr<CmConnector> caller(new CmConnector(device, options, calls));
  caller->channel_.reset(CmLibrary::get().create_event_channel());
  if (!caller->channel_ || fcntl(caller->channel_->fd, F_SETFL, O_NONBLOCK) != 0)
    return caller->failed("make a channel for events of connections");
  if (Status s = caller->listen(options.bind); !s)
    return s;
  caller->eventFile_ = epoll_create1(EPOLL_CLOEXEC);
  for (int file : {device.descriptor(), caller->channel_->fd}) {
    epoll_event readable = {.events = EPOLLIN, .data = {}};
    if (epoll_ctl(caller->eventFile_, EPOLL_CTL_ADD, file, &readable) != 0)
      return caller->failed("wait for events");
  }
  return std::unique_ptr<Connector>(std::move(caller));
}

Status CmConnector::listen(const std::string &place) {
  Result<std::string> here = addressAt(place);
  if (!here)
    return here.status();
  Result<colldsl::Address> wanted = readAddress(*here);
  if (!wanted)
    return wanted.status();
  Status why = listenAt(*wanted);
  for (const Interface &own : ownInterfaces())
    if (!why)
      why = listenAt(own.address);
  return why ? Status() : Status::error("it cannot be called: " + why.message());
}

// True for the device of this rank, which librdmacm has opened for itself.
bool CmConnector::isOurs(const ibv_context *context) const {
  return context && nameOf(context) == nameOf(device_.context());
}

Status CmConnector::listenAt(const colldsl::Address &address) {
  const CmLibrary &cm = CmLibrary::get();
  std::string where = "listen at " + inWords(address);
  rdma_cm_id *id = nullptr;
  if (cm.create_id(channel_.get(), &id, nullptr, RDMA_PS_TCP) != 0)
    return failed(where.c_str());
  listener_.reset(id);
  SocketName name(address, 0);
  if (cm.bind_addr(id, name.get()) != 0)
    return failed(where.c_str());
  if (!isOurs(id->verbs))
    return deviceError(where, device_.context(), EADDRNOTAVAIL);
  if (calls_.listen(id, kBacklog) != 0)
    return failed(where.c_str());
  address_ = {address, cm.get_src_port(id)};
  return {};
}

void CmConnector::stop() {
  if (eventFile_ >= 0)
    ::close(std::exchange(eventFile_, -1));
  listener_.reset();
  channel_.reset();
}

std::vector<std::byte> CmConnector::address() const {
  static_assert(sizeof(Address) == 18);
  auto bytes = std::as_bytes(std::span(&address_, 1));
  return {bytes.begin(), bytes.end()};
}

Status CmConnector::start(network::Carrier &, ConnectorHost &host, const network::Owner &owner) {
  host_ = &host;
  owner_ = owner;
  return {};
}

Result<std::unique_ptr<Link>> CmConnector::reach(network::Peer &peer,
                                                 const network::RankAddress &rankAddress) {
  if (rankAddress.addressBytes != sizeof(Address))
    return Status::error("it has no address of such an RDMA device");
  auto link = std::make_unique<CmLink>(peer);
  std::memcpy(&link->address, rankAddress.address.data(), sizeof(Address));
  return std::unique_ptr<Link>(std::move(link));
}

Status CmConnector::begin(Link &link) {
  auto &called = static_cast<CmLink &>(link);
  link.state = Link::State::Begun;
  begun_.push_back(&called);
  return call(called);
}

// Calls the peer. Events report the progress: librdmacm resolves an address first, and then a
// route.
Status CmConnector::call(CmLink &link) {
  const CmLibrary &cm = CmLibrary::get();
  rdma_cm_id *id = nullptr;
  if (cm.create_id(channel_.get(), &id, &link, RDMA_PS_TCP) != 0)
    return failed("make an end of a connection");
  link.id.reset(id);
  link.hasCalled = true;
  SocketName here(address_.address, 0), there(link.address.address, link.address.port);
  return cm.resolve_addr(id, here.get(), there.get(), kTimeoutMs) == 0
             ? Status()
             : noWay(link, "look for a peer's address");
}

// Calls again later, because the peer's machine may be silent for some time and then be there
// again.
Status CmConnector::noWay(CmLink &link, const char *what) {
  if (link.noWays++ == 0)
    link.noWaySince = Clock::now();
  if (link.noWays >= kFewestCalls && Clock::now() - link.noWaySince > silence_)
    return failed(what);
  callLater(link);
  return {};
}

void CmConnector::hangUp(CmLink &link) {
  link.close();
  host_->unprepare(link);
}

// Calls the peer again unless it calls, for as long as it lives; others notice its death.
void CmConnector::callLater(CmLink &link) {
  hangUp(link);
  link.againAt = Clock::now() + kPause;
}

bool CmConnector::callAgain() {
  auto now = Clock::now();
  bool moved = false;
  std::erase_if(begun_, [&](CmLink *link) {
    if (link->peer.isLost || link->state == Link::State::Ready)
      return true;
    if (link->id || now < link->againAt)
      return false;
    moved = true;
    if (Status s = call(*link); !s)
      host_->lose(*link, s.message());
    return false;
  });
  return moved;
}

// Makes the queue pair on this rank's device: librdmacm would make it on the device as it has
// opened it, once for a process and all that it forks.
Status CmConnector::makePair(CmLink &link) {
  ibv_qp_init_attr wanted = host_->wantedPair();
  Result<QueuePair> pair = device_.makeQueuePair(wanted);
  if (!pair)
    return pair.status();
  link.pair = pair.take();
  ibv_qp_attr attributes = {};
  attributes.qp_state = IBV_QPS_INIT;
  int mask = 0;
  if (CmLibrary::get().init_qp_attr(link.id.get(), &attributes, &mask) != 0)
    return failed("ask how to prepare a queue pair");
  return device_.change(link.pair.get(), attributes, mask, "prepare a queue pair");
}

// The parameters of a connection, which `greeting` outlives.
rdma_conn_param CmConnector::termsOf(const CmLink &link, const Greeting &greeting) const {
  auto reads = [](int most) { return static_cast<uint8_t>(std::min(most, kMaxReads)); };
  rdma_conn_param terms = {};
  terms.qp_num = link.pair->qp_num;
  terms.private_data = &greeting;
  terms.private_data_len = sizeof greeting;
  terms.responder_resources = reads(device_.limits().max_qp_rd_atom);
  terms.initiator_depth = reads(device_.limits().max_qp_init_rd_atom);
  return terms;
}

Status CmConnector::connect(CmLink &link) {
  if (Status s = makePair(link); !s)
    return s;
  Greeting greeting{link.peer.token, owner_.self, frames_};
  rdma_conn_param terms = termsOf(link, greeting);
  if (calls_.connect(link.id.get(), &terms) != 0)
    return noWay(link, "call a peer");
  link.noWays = 0;
  return {};
}

Status CmConnector::establish(CmLink &link, const Greeting &greeting) {
  if (greeting.token != owner_.token || greeting.from != link.peer.rank)
    return Status::error("somebody else answers in its place");
  if (greeting.frames == 0)
    return Status::error("it takes no frames");
  if (Status s = host_->prepare(link, greeting.frames); !s)
    return s;
  link.state = Link::State::Ready;
  host_->sendFirst(link);
  return {};
}

void CmConnector::onFirstReceive(Link &link) { link.state = Link::State::Ready; }

// Takes the next event, and gives it back to librdmacm at once: an end cannot be destroyed before.
std::optional<CmConnector::Event> CmConnector::next() {
  const CmLibrary &cm = CmLibrary::get();
  rdma_cm_event *event = nullptr;
  if (calls_.nextEvent(channel_.get(), &event) != 0) {
    if (errno != EAGAIN && errno != EINTR)
      host_->breakDown(failed("hear of connections").message());
    return std::nullopt;
  }
  Event result{event->event, event->id, std::abs(event->status), {}};
  const rdma_conn_param &terms = event->param.conn;
  bool greets =
      result.kind == RDMA_CM_EVENT_CONNECT_REQUEST || result.kind == RDMA_CM_EVENT_ESTABLISHED;
  if (greets && terms.private_data && terms.private_data_len >= sizeof result.greeting)
    std::memcpy(&result.greeting, terms.private_data, sizeof result.greeting);
  cm.ack_cm_event(event);
  return result;
}

bool CmConnector::attend() {
  bool moved = false;
  for (auto event = next(); event; event = next(), moved = true) {
    if (event->kind == RDMA_CM_EVENT_CONNECT_REQUEST) {
      answer(CmId(event->id), event->greeting);
      continue;
    }
    auto *link = static_cast<CmLink *>(event->id->context);
    if (!link || link->peer.isLost || link->state == Link::State::Ready)
      continue;
    if (Status s = proceed(*link, *event); !s)
      host_->lose(*link, s.message());
  }
  return moved;
}

// The end of a connection that was ready shows in the operations over it.
Status CmConnector::proceed(CmLink &link, const Event &event) {
  switch (event.kind) {
  case RDMA_CM_EVENT_ADDR_RESOLVED:
    return CmLibrary::get().resolve_route(event.id, kTimeoutMs) == 0 ? Status()
                                                                     : noWay(link, "find a route");
  case RDMA_CM_EVENT_ROUTE_RESOLVED:
    return connect(link);
  case RDMA_CM_EVENT_ESTABLISHED:
    return link.hasCalled ? establish(link, event.greeting) : Status();
  case RDMA_CM_EVENT_REJECTED:
  case RDMA_CM_EVENT_UNREACHABLE:
  case RDMA_CM_EVENT_CONNECT_ERROR:
  case RDMA_CM_EVENT_DISCONNECTED:
    callLater(link);
    return {};
  case RDMA_CM_EVENT_ADDR_ERROR:
  case RDMA_CM_EVENT_ROUTE_ERROR:
    errno = event.error;
    return noWay(link, "find a way to a peer");
  case RDMA_CM_EVENT_DEVICE_REMOVAL:
    return Status::error("the device was removed");
  case RDMA_CM_EVENT_CONNECT_REQUEST: // has no link
  case RDMA_CM_EVENT_CONNECT_RESPONSE:
  case RDMA_CM_EVENT_MULTICAST_JOIN:
  case RDMA_CM_EVENT_MULTICAST_ERROR:
  case RDMA_CM_EVENT_ADDR_CHANGE:
  case RDMA_CM_EVENT_TIMEWAIT_EXIT:
    return {};
  }
  return {};
}

// Answers a call. A peer that calls once more has given up its call before.
void CmConnector::answer(CmId id, const Greeting &greeting) {
  auto *link = static_cast<CmLink *>(host_->onConnectRequest(greeting.token, greeting.from));
  bool isMine = link && link->id && link->hasCalled && index(owner_.self) > index(greeting.from);
  if (!link || greeting.frames == 0 || isMine || link->state == Link::State::Ready) {
    CmLibrary::get().reject(id.get(), nullptr, 0);
    return;
  }
  if (link->state == Link::State::Idle)
    begun_.push_back(link);
  link->state = Link::State::Begun;
  hangUp(*link);
  link->id = std::move(id);
  link->id->context = link;
  link->hasCalled = false;
  if (Status s = accept(*link, greeting); !s)
    host_->lose(*link, s.message());
}

Status CmConnector::accept(CmLink &link, const Greeting &greeting) {
  if (Status s = makePair(link); !s)
    return s;
  if (Status s = host_->prepare(link, greeting.frames); !s)
    return s;
  Greeting back{link.peer.token, owner_.self, frames_};
  rdma_conn_param terms = termsOf(link, back);
  if (calls_.accept(link.id.get(), &terms) != 0)
    callLater(link); // it was not patient enough
  return {};
}

bool CmConnector::poll() {
  bool moved = !begun_.empty() && callAgain();
  if (!begun_.empty() || polls_++ % kPollsPerLook == 0)
    moved |= attend();
  return moved;
}

network::Carrier::Wait CmConnector::wait() {
  polls_ = 0;
  network::Carrier::Wait wait = {eventFile_};
  auto now = Clock::now();
  for (const CmLink *link : begun_)
    if (!link->id)
      wait.atMost = std::clamp<std::chrono::nanoseconds>(link->againAt - now,
                                                         std::chrono::nanoseconds(0), wait.atMost);
  return wait;
}

} // namespace colldsl::verbs
