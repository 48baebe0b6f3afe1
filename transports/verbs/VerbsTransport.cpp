#include "transports/verbs/VerbsTransport.h"

#include "transports/verbs/CmConnector.h"
#include "transports/verbs/Parts.h"
#include "transports/verbs/UdConnector.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>

namespace colldsl::verbs {
namespace {

using network::Access;
using network::Frame;
using network::Operation;
using network::Peer;
using network::PostResult;
using network::RmaOperation;
using network::RmaSpec;

// The most looks at the queue in a row; then others get their turn.
constexpr int kMaxLooks = 4;
constexpr int kCompletions = 16;
// The most pieces of memory of one request: each makes all requests of a device longer.
constexpr uint32_t kPiecesPerRequest = 8;

// The access flags of memory. Over iWARP the other end writes the memory that a read fills.
int flagsOf(Access access, bool isIwarp) {
  switch (access) {
  case Access::Send:
  case Access::Write:
    return 0;
  case Access::Receive:
    return IBV_ACCESS_LOCAL_WRITE;
  case Access::Read:
    return IBV_ACCESS_LOCAL_WRITE | (isIwarp ? IBV_ACCESS_REMOTE_WRITE : 0);
  case Access::RemoteRead:
    return IBV_ACCESS_REMOTE_READ;
  case Access::RemoteWrite:
    return IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
  }
  return 0;
}

// The flags of device memory, which serves all messages of its plans. What a read fills is writable
// for the other end, as iWARP wants it.
constexpr int kDeviceFlags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;

struct Known : network::Region::Registration {
  explicit Known(ibv_mr *made) : region(made) {
    descriptor = reinterpret_cast<void *>(uintptr_t{made->lkey});
    key = made->rkey;
  }
  MemoryRegion region;
};

std::string textOf(ibv_wc_status status) {
  return status == IBV_WC_WR_FLUSH_ERR ? "the connection has ended"
                                       : Library::get().wc_status_str(status);
}

// True if the device reports that the bytes of a write become visible in order.
bool writesInOrder(ibv_qp *pair) {
  auto *query = Library::get().query_qp_data_in_order;
  return query && query(pair, IBV_WR_RDMA_WRITE, 0) == 1;
}

bool isForNow(int error) { return error == ENOMEM || error == EAGAIN; }

} // namespace

VerbsTransport::VerbsTransport(std::unique_ptr<Device> device, const Options &options, Calls &calls)
    : device_(std::move(device)), options_(options), calls_(calls) {
  options_.sendsPerPeer =
      std::min(options.sendsPerPeer, static_cast<uint32_t>(device_->limits().max_qp_wr));
  options_.postedReceives =
      std::min(options.postedReceives, static_cast<uint32_t>(device_->limits().max_srq_wr));
  auto numReceives =
      std::min(static_cast<uint32_t>(device_->limits().max_qp_wr), Receives::kMax - 1);
  options_.framesPerPeer = std::clamp(options.framesPerPeer, 1u, numReceives - Credits::kSpare);
  auto pieces = static_cast<uint32_t>(
      std::min(device_->limits().max_sge, std::max(1, device_->limits().max_sge_rd)));
  piecesPerRequest_ = std::min(kPiecesPerRequest, pieces);
}

Result<std::unique_ptr<network::Transport>>
VerbsTransport::open(uint32_t numRanks, const Options &options, Calls &calls) {
  Result<std::unique_ptr<Device>> device = Device::open(options, numRanks);
  if (!device)
    return device.status();
  std::unique_ptr<VerbsTransport> transport(new VerbsTransport(device.take(), options, calls));
  Device &opened = *transport->device_;
  Result<std::unique_ptr<Connector>> connector =
      opened.isIwarp() ? CmConnector::open(opened, transport->options_, calls)
                       : UdConnector::open(opened, calls);
  if (!connector)
    return connector.status();
  transport->connector_ = connector.take();
  if (Status s = transport->probe(); !s)
    return s;
  return std::unique_ptr<network::Transport>(std::move(transport));
}

ibv_qp_init_attr VerbsTransport::wantedPair() const {
  ibv_qp_init_attr wanted = {};
  wanted.qp_type = IBV_QPT_RC;
  wanted.srq = device_->srq();
  wanted.cap.max_send_wr = options_.sendsPerPeer;
  wanted.cap.max_send_sge = piecesPerRequest_;
  wanted.cap.max_inline_data = inlineBytes_;
  if (!wanted.srq)
    wanted.cap.max_recv_wr = options_.framesPerPeer + Credits::kSpare;
  wanted.cap.max_recv_sge = 1;
  return wanted;
}

// Only a queue pair tells how much of a frame fits into a request. Some devices make no pair that
// wants too much.
Status VerbsTransport::probePair() {
  for (;; inlineBytes_ /= 2) {
    ibv_qp_init_attr wanted = wantedPair();
    Result<QueuePair> pair = device_->makeQueuePair(wanted);
    capabilities_.injectBytes = std::min(wanted.cap.max_inline_data, inlineBytes_);
    capabilities_.inOrderBytes =
        pair && writesInOrder(pair->get()) ? UINT64_MAX : options_.inOrderBytes;
    if (pair || inlineBytes_ <= sizeof(network::Header))
      return pair.status();
  }
}

Status VerbsTransport::probe() {
  if (Status s = probePair(); !s)
    return s;
  if (device_->isIwarp() && capabilities_.injectBytes < sizeof(Note))
    return Status::error("the device takes no bytes inside requests");
  capabilities_.name = "verbs";
  uint32_t parts = std::clamp(options_.sendsPerPeer / 4, 1u, Parts::kMaxOfLength);
  capabilities_.maxRmaBytes = uint64_t{device_->portLimits().max_msg_sz} * parts;
  capabilities_.pieces = std::min(network::kMaxPieces, piecesPerRequest_ * parts);
  capabilities_.remoteIovs = std::min(network::kMaxRemoteIovs, parts);
  capabilities_.batches = true;
  capabilities_.hasRma = options_.usesRma;
  capabilities_.usesVirtualAddresses = capabilities_.needsLocalRegistration =
      capabilities_.pinsPages = true;
  capabilities_.registersDevice = options_.usesRma && registersDmaBufs();
  uint32_t ofPeer = options_.framesPerPeer + Credits::kSpare + options_.sendsPerPeer;
  uint32_t reserved = device_->isIwarp() ? 0 : options_.postedReceives + connector_->completions();
  auto room = static_cast<uint32_t>(device_->queue()->cqe);
  if (room <= reserved || (device_->isIwarp() && room < ofPeer))
    return Status::error("a completion queue of " + std::to_string(room) + " entries is too short");
  mostOpen_ = room - reserved;
  return {};
}

// A device that knows dma-bufs misses the file; others refuse the call before.
bool VerbsTransport::registersDmaBufs() {
  if (!Library::get().reg_dmabuf_mr)
    return false;
  MemoryRegion none(calls_.registerDmaBuf(device_->domain(), 0, 0, 0, -1, 0));
  return !none && errno == EBADF;
}

Result<std::vector<std::byte>> VerbsTransport::address() const { return connector_->address(); }

Status VerbsTransport::start(network::TransportHandler &handler, const network::Owner &owner) {
  handler_ = &handler;
  owner_ = owner;
  bool isShared = !device_->isIwarp();
  uint32_t frames = isShared ? options_.postedReceives : options_.framesPerPeer + Credits::kSpare;
  received_.emplace(*this, owner.frameBytes, frames, Access::Receive);
  if (isShared) {
    shared_.emplace(0, *received_);
    if (Status s = open(*shared_, frames); !s)
      return s;
    listenToAll();
  }
  if (isBroken_)
    return Status::error("the device takes no receives");
  return connector_->start(*this, *this, owner);
}

Status VerbsTransport::open(Receives &receives, uint32_t count) {
  return receives.open(count) ? Status()
                              : Status::error("no memory could be registered for what comes; is "
                                              "there a limit of locked memory?");
}

// The receives of the link must find room in the completion queue.
Status VerbsTransport::prepare(Link &link, uint32_t frames) {
  uint32_t numReceives = options_.framesPerPeer + Credits::kSpare;
  if (mostOpen_ < numReceives + std::max(open_, options_.sendsPerPeer))
    return Status::error("the completion queue has no room for one more peer");
  mostOpen_ -= numReceives;
  Connection &connection = connectionOf(link.peer);
  connection.credits.setPromised(frames);
  Status opened = open(connection.receives, numReceives);
  listen(connection);
  return opened;
}

void VerbsTransport::unprepare(Link &link) {
  Connection &connection = connectionOf(link.peer);
  mostOpen_ += connection.receives.count();
  connection.receives.close();
}

Status VerbsTransport::reach(Peer &peer, const network::RankAddress &rankAddress) {
  Result<std::unique_ptr<Link>> link = connector_->reach(peer, rankAddress);
  if (!link)
    return link.status();
  peer.handle = connections_.size();
  connections_.push_back(std::make_unique<Connection>(link.take(), options_, *received_));
  return {};
}

Link *VerbsTransport::onConnectRequest(uint64_t token, Rank from) {
  bool isOurs = token == owner_.token && from != owner_.self;
  Peer *peer = isOurs ? handler_->onConnectRequest(from) : nullptr;
  refused_ += !peer;
  return peer && !peer->isLost ? connectionOf(*peer).link.get() : nullptr;
}

void VerbsTransport::lose(Link &link, const std::string &reason) {
  handler_->onLost(link.peer, reason);
}

Result<network::Region> VerbsTransport::registerMemory(std::span<const iovec> pieces,
                                                       Access access) {
  const iovec &memory = pieces.front();
  ibv_mr *region =
      calls_.registerMemory(device_->domain(), memory, flagsOf(access, device_->isIwarp()));
  if (!region)
    return deviceError("register " + std::to_string(memory.iov_len) + " bytes of memory",
                       device_->context(), errno);
  return network::Region(std::make_unique<Known>(region));
}

Result<network::Region> VerbsTransport::registerDevice(const network::DeviceMemory &memory) {
  if (!capabilities_.registersDevice || memory.dmaBuf < 0)
    return Status::error("the device memory has no dma-buf that the network device could register");
  auto address = reinterpret_cast<uint64_t>(memory.memory.iov_base);
  ibv_mr *region =
      calls_.registerDmaBuf(device_->domain(), memory.dmaBufOffset, memory.memory.iov_len, address,
                            memory.dmaBuf, kDeviceFlags);
  if (!region)
    return deviceError("register " + std::to_string(memory.memory.iov_len) +
                           " bytes of device memory",
                       device_->context(), errno);
  return network::Region(std::make_unique<Known>(region));
}

bool VerbsTransport::fits(const Connection &connection, const Need &need) const {
  return connection.link->state == Link::State::Ready && connection.error == 0 &&
         connection.requests.fits(need.requests, need.pieces) &&
         open_ + need.requests <= mostOpen_ &&
         (!device_->isIwarp() ||
          connection.credits.has(need.frames, connection.receives.waiting()));
}

// Returns nothing, and uses credits, if the connection takes the requests and pieces of memory of
// `need`, and the peer can receive its frames.
std::optional<PostResult> VerbsTransport::unfit(Connection &connection, const Need &need) {
  if (connection.link->state == Link::State::Idle) {
    if (Status s = connector_->begin(*connection.link); !s) {
      reason_ = s.message();
      return PostResult::Error;
    }
  }
  if (!connection.requests.fits(need.requests, need.pieces))
    postNow(connection);
  if (fits(connection, need)) {
    if (device_->isIwarp())
      connection.credits.use(need.frames);
    return std::nullopt;
  }
  lacksRoom_ = true;
  return PostResult::NoResource;
}

// Posts the requests that the device takes now, unless they are held; keeps those that wait.
void VerbsTransport::post(Connection &connection) {
  if (!holds_)
    postNow(connection);
  if (connection.requests.waiting() > 0 && !std::exchange(connection.isKept, true))
    kept_.push_back(&connection);
}

void VerbsTransport::postNow(Connection &connection) {
  if (connection.error != 0)
    return;
  int error = connection.requests.post(calls_, connection.link->pair.get());
  lacksRoom_ |= error != 0;
  if (error != 0 && !isForNow(error))
    fail(connection, error);
}

// Leaves the report to the next poll, which first takes earlier completions: perhaps the peer has
// left in order.
void VerbsTransport::fail(Connection &connection, int error) {
  if (connection.error == 0)
    failing_.push_back(&connection);
  connection.error = error;
}

bool VerbsTransport::cancelFailing() {
  std::vector<Connection *> failing = std::exchange(failing_, {});
  for (Connection *connection : failing) {
    std::string reason = std::strerror(connection->error);
    for (Operation *operation : connection->requests.cancelAll()) {
      --open_;
      rmas_ -= operation && operation->kind == Operation::Kind::Rma;
      if (operation)
        handler_->onFailed(*operation, reason);
    }
    lose(*connection->link, reason);
  }
  return !failing.empty();
}

void VerbsTransport::push() {
  holds_ = false;
  for (Connection *connection : kept_)
    postNow(*connection);
  std::erase_if(kept_, [](Connection *connection) {
    connection->isKept = connection->requests.waiting() > 0;
    return !connection->isKept;
  });
}

PostResult VerbsTransport::send(Peer &to, Frame &frame) {
  Connection &connection = connectionOf(to);
  if (auto verdict = unfit(connection, {1, 1, 1}))
    return *verdict;
  ibv_sge memory = {reinterpret_cast<uint64_t>(frame.data), frame.bytes,
                    localKey(frame.descriptor)};
  ibv_send_wr request = {};
  request.sg_list = &memory;
  request.num_sge = 1;
  request.opcode = IBV_WR_SEND;
  request.send_flags = IBV_SEND_SOLICITED;
  connection.requests.add(&frame, request);
  ++open_;
  post(connection);
  return PostResult::Ok;
}

PostResult VerbsTransport::inject(Peer &to, std::span<const std::byte> frame) {
  Connection &connection = connectionOf(to);
  if (auto verdict = unfit(connection, {1, 1, 1}))
    return *verdict;
  sendInline(connection, nullptr, frame);
  return PostResult::Ok;
}

void VerbsTransport::sendInline(Connection &connection, Operation *operation,
                                std::span<const std::byte> bytes) {
  ibv_sge memory = {reinterpret_cast<uint64_t>(bytes.data()), static_cast<uint32_t>(bytes.size()),
                    0};
  ibv_send_wr request = {};
  request.sg_list = &memory;
  request.num_sge = 1;
  request.opcode = IBV_WR_SEND;
  request.send_flags = IBV_SEND_INLINE | IBV_SEND_SOLICITED;
  connection.requests.add(operation, request);
  ++open_;
  post(connection);
}

// Posts several requests if the operation has more pieces than a request, or is longer than the
// device's longest message. All of them are posted at once, and the last one reports.
PostResult VerbsTransport::postRma(RmaOperation &rma, const RmaSpec &spec, ibv_wr_opcode opcode,
                                   ibv_wr_opcode last) {
  Parts parts(spec, piecesPerRequest_, device_->portLimits().max_msg_sz);
  Connection &connection = connectionOf(*rma.peer);
  uint32_t notes = last == IBV_WR_SEND; // in place of an immediate value
  if (auto verdict = unfit(connection, {parts.count + notes, parts.numPieces + notes, notes}))
    return *verdict;
  for (uint32_t i = 0; i < parts.count; ++i) {
    bool isLast = i + 1 == parts.count && notes == 0;
    ibv_send_wr request = {};
    request.sg_list = &parts.pieces[parts.list[i].first];
    request.num_sge = static_cast<int>(parts.list[i].count);
    request.opcode = isLast ? last : opcode;
    request.send_flags = IBV_SEND_SOLICITED;
    request.imm_data = htonl(spec.immediate);
    request.wr.rdma = {parts.list[i].there, static_cast<uint32_t>(spec.key)};
    connection.requests.add(isLast ? &rma : nullptr, request);
  }
  open_ += parts.count;
  if (notes > 0)
    addNote(connection, &rma, {.immediate = spec.immediate, .hasId = true});
  ++rmas_;
  post(connection);
  return PostResult::Ok;
}

PostResult VerbsTransport::read(RmaOperation &rma, const RmaSpec &spec) {
  return postRma(rma, spec, IBV_WR_RDMA_READ, IBV_WR_RDMA_READ);
}

PostResult VerbsTransport::write(RmaOperation &rma, const RmaSpec &spec) {
  if (spec.isSilent)
    return postRma(rma, spec, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE);
  if (device_->isIwarp())
    return postRma(rma, spec, IBV_WR_RDMA_WRITE, IBV_WR_SEND);
  return postRma(rma, spec, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM);
}

// Each note brings the credits that are owed.
void VerbsTransport::addNote(Connection &connection, Operation *operation, Note note) {
  note.credits = static_cast<uint16_t>(connection.credits.give(connection.receives.waiting()));
  sendInline(connection, operation, std::as_bytes(std::span(&note, 1)));
}

bool VerbsTransport::giveCredits() {
  size_t before = owing_.size();
  std::erase_if(owing_, [&](Connection *connection) {
    bool isOver = !connection->credits.mustGive(connection->receives.waiting()) ||
                  connection->link->peer.isLost;
    if (!isOver && !fits(*connection, {1, 1, 0})) {
      lacksRoom_ = true;
      return false;
    }
    if (!isOver)
      addNote(*connection, nullptr, {});
    connection->isOwing = false;
    return true;
  });
  return owing_.size() < before;
}

void VerbsTransport::breakDown(const std::string &reason) {
  if (isBroken_)
    return;
  isBroken_ = true;
  handler_->onBroken(reason);
}

void VerbsTransport::listen(Connection &connection) {
  int error = connection.receives.post(calls_, connection.link->pair.get());
  if (error != 0 && !isForNow(error))
    fail(connection, error);
  else if (error != 0 && !std::exchange(connection.isDeaf, true))
    deaf_.push_back(&connection);
  noteOwing(connection);
}

void VerbsTransport::listenToAll() {
  int error = shared_->post(calls_, device_->srq());
  if (error != 0 && !isForNow(error))
    breakDown(std::string("cannot receive: ") + std::strerror(error));
}

bool VerbsTransport::listenAgain() {
  size_t before = deaf_.size() + (shared_ ? shared_->waiting() : 0);
  if (shared_ && !isBroken_)
    listenToAll();
  for (Connection *connection : std::exchange(deaf_, {})) {
    connection->isDeaf = false;
    if (connection->error == 0)
      listen(*connection);
  }
  return deaf_.size() + (shared_ ? shared_->waiting() : 0) < before;
}

void VerbsTransport::takeShared(const ibv_wc &completion) {
  Frame *frame = shared_->take(completion.wr_id);
  refused_ += !frame || completion.status != IBV_WC_SUCCESS; // no frame: reported before
  if (!frame)
    return;
  if (completion.status != IBV_WC_SUCCESS)
    loseOf(completion);
  else if (completion.opcode == IBV_WC_RECV_RDMA_WITH_IMM)
    handler_->onRemoteWrite(ntohl(completion.imm_data));
  else
    handler_->onBytes({frame->data, std::min(completion.byte_len, received_->frameBytes())});
  shared_->giveBack(completion.wr_id);
  listenToAll();
}

// The completion of a shared receive names its queue pair only.
void VerbsTransport::loseOf(const ibv_wc &failed) {
  for (auto &connection : connections_)
    if (connection->link->pair && connection->link->pair->qp_num == failed.qp_num)
      lose(*connection->link, textOf(failed.status));
}

// A connection that is not ready ends as often as the peer hangs up; the connector then calls
// again.
void VerbsTransport::takeOwn(Connection &connection, const ibv_wc &completion) {
  Frame *frame = connection.receives.take(completion.wr_id);
  refused_ += !frame;
  if (!frame)
    return;
  if (completion.status == IBV_WC_SUCCESS) {
    takeFrame(connection, *frame, completion.byte_len);
    connection.receives.giveBack(completion.wr_id);
    return listen(connection);
  }
  connection.receives.drop(completion.wr_id);
  ++mostOpen_;
  if (connection.link->state == Link::State::Ready)
    lose(*connection.link, textOf(completion.status));
}

void VerbsTransport::takeFrame(Connection &connection, const Frame &frame, uint32_t bytes) {
  connector_->onFirstReceive(*connection.link);
  bool isNote = bytes == sizeof(Note);
  Note note;
  if (isNote)
    std::memcpy(&note, frame.data, sizeof note);
  connection.credits.add(note.credits);
  if (!isNote)
    handler_->onBytes({frame.data, std::min(bytes, received_->frameBytes())});
  else if (note.hasId)
    handler_->onRemoteWrite(note.immediate);
  if (!isNote || note.hasId)
    connection.credits.owe();
}

void VerbsTransport::noteOwing(Connection &connection) {
  if (connection.credits.mustGive(connection.receives.waiting()) &&
      !std::exchange(connection.isOwing, true))
    owing_.push_back(&connection);
}

// The completion of a failed request holds no more than its id, queue pair and status; requests
// that fail with it were flushed.
void VerbsTransport::take(const ibv_wc &completion) {
  if (connector_->take(completion))
    return;
  if (SendQueue::isRequest(completion.wr_id))
    takeSent(*connections_[SendQueue::handleOf(completion.wr_id)], completion);
  else if (shared_)
    takeShared(completion);
  else
    takeOwn(*connections_[Receives::handleOf(completion.wr_id)], completion);
}

void VerbsTransport::takeSent(Connection &connection, const ibv_wc &completion) {
  bool isKnown = false;
  while (std::optional<SendQueue::Done> done = connection.requests.takeDone(completion.wr_id)) {
    isKnown = true;
    --open_;
    Operation *operation = done->operation;
    rmas_ -= operation && operation->kind == Operation::Kind::Rma;
    bool isFine = !done->last || completion.status == IBV_WC_SUCCESS;
    if (operation && isFine)
      handler_->onDone(*operation);
    else if (operation)
      handler_->onFailed(*operation, textOf(completion.status));
    else if (!isFine)
      lose(*connection.link, textOf(completion.status));
    if (done->last)
      break;
  }
  refused_ += !isKnown; // reported before
}

bool VerbsTransport::poll() {
  push();
  std::vector<ibv_wc> early = std::exchange(early_, {});
  for (const ibv_wc &completion : early)
    take(completion);
  bool moved = !early.empty();
  ibv_wc completions[kCompletions];
  for (int look = 0, count = kCompletions; look < kMaxLooks && count == kCompletions; ++look) {
    count = calls_.pollQueue(device_->queue(), kCompletions, completions);
    for (int i = 0; i < count; ++i)
      take(completions[i]);
    if (count < 0)
      breakDown("cannot poll for completions");
    moved |= count > 0;
  }
  moved |= connector_->poll();
  if (!failing_.empty())
    moved |= cancelFailing();
  if (!deaf_.empty() || (shared_ && shared_->waiting() > 0))
    moved |= listenAgain();
  if (!owing_.empty())
    moved |= giveCredits();
  return moved;
}

// The completion of a send is no event, unless an operation waits for it. Over iWARP every
// completion is one, because iWARP in software did not report messages of peers in time when it was
// armed for them alone. Completions between the last poll and this call would not show at the
// descriptor.
std::optional<network::Transport::Wait> VerbsTransport::ifIdle() {
  if (!early_.empty() || !failing_.empty())
    return std::nullopt;
  bool any = std::exchange(lacksRoom_, false) || rmas_ > 0 || device_->isIwarp();
  if (!device_->arm(any))
    return std::nullopt;
  early_.resize(kCompletions);
  int count = calls_.pollQueue(device_->queue(), kCompletions, early_.data());
  early_.resize(static_cast<size_t>(std::max(0, count)));
  if (count != 0)
    return std::nullopt;
  return connector_->wait();
}

void VerbsTransport::stop() {
  for (auto &connection : connections_)
    connection->link->close();
  connector_->stop();
}

bool isBuiltIn() { return true; }

std::string whyNot(const Options &options) {
  Result<std::unique_ptr<Device>> device = Device::open(options);
  return device ? "" : device.message();
}

Result<std::unique_ptr<network::Transport>> open(uint32_t numRanks, const Options &options) {
  return VerbsTransport::open(numRanks, options);
}

} // namespace colldsl::verbs
