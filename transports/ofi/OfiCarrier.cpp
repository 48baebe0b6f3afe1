#include "transports/ofi/OfiCarrier.h"

#include "wireup/Interfaces.h"

#include <algorithm>

namespace colldsl::ofi {
namespace {

using network::Frame;
using network::Operation;
using network::Peer;
using network::PostResult;
using network::RmaOperation;
using network::RmaSpec;

// The most looks at the queue in a row; then others get their turn.
constexpr int kMaxLooks = 4;
constexpr size_t kEntries = 16;

Operation &operationOf(void *context) { return *static_cast<Operation *>(context); }

/// Makes a message of libfabric, which `there` and `pieces` outlive.
fi_msg_rma messageOf(RmaOperation &rma, const RmaSpec &spec, const fi_rma_iov &there,
                     void **pieces) {
  static_assert(sizeof(fi_context2) <= sizeof(Operation::context));
  fi_msg_rma message = {};
  std::copy_n(spec.descriptors, spec.count, pieces);
  message.msg_iov = spec.pieces;
  message.desc = pieces[0] ? pieces : nullptr;
  message.iov_count = spec.count;
  message.addr = rma.peer->handle;
  message.rma_iov = &there;
  message.rma_iov_count = 1;
  message.context = static_cast<Operation *>(&rma);
  message.data = spec.immediate;
  return message;
}

} // namespace

OfiCarrier::OfiCarrier(std::unique_ptr<RdmEndpoint> endpoint, Calls &calls, uint32_t postedReceives)
    : endpoint_(std::move(endpoint)), calls_(calls), postedReceives_(postedReceives) {
  capabilities_ = endpoint_->capabilities();
}

Result<std::unique_ptr<network::Carrier>> OfiCarrier::open(Options options, Calls &calls) {
  Result<std::string> address = addressAt(options.bind);
  if (!address)
    return address.status();
  options.bind = address.take();
  Result<std::unique_ptr<RdmEndpoint>> endpoint = RdmEndpoint::open(options, calls);
  if (!endpoint)
    return endpoint.status();
  return std::unique_ptr<network::Carrier>(
      new OfiCarrier(endpoint.take(), calls, options.postedReceives));
}

Status OfiCarrier::start(network::CarrierHandler &handler, const network::Owner &owner) {
  handler_ = &handler;
  received_.emplace(*this, owner.frameBytes, postedReceives_, network::Access::Receive);
  for (uint32_t i = 0; i < postedReceives_; ++i) {
    Frame *frame = received_->take();
    if (!frame)
      return Status::error("no memory could be registered for what comes");
    listen(*frame);
  }
  return isBroken_ ? Status::error("the provider takes no receives") : Status();
}

Status OfiCarrier::reach(Peer &peer, const network::RankAddress &rankAddress) {
  Result<fi_addr_t> handle = endpoint_->reach(rankAddress.address.data());
  if (handle)
    peer.handle = *handle;
  return handle.status();
}

PostResult OfiCarrier::offered(ssize_t code) {
  if (code == 0)
    return PostResult::Ok;
  if (code == -FI_EAGAIN)
    return PostResult::NoResource;
  reason_ = textOf(code);
  return PostResult::Error;
}

PostResult OfiCarrier::send(Peer &to, Frame &frame) {
  return offered(calls_.send(endpoint_->ep(), frame.data, frame.bytes, frame.descriptor, to.handle,
                             static_cast<Operation *>(&frame)));
}

PostResult OfiCarrier::inject(Peer &to, std::span<const std::byte> frame) {
  return offered(calls_.inject(endpoint_->ep(), frame.data(), frame.size(), to.handle));
}

PostResult OfiCarrier::read(RmaOperation &rma, const RmaSpec &spec) {
  fi_rma_iov there = {spec.address, spec.bytes, spec.key};
  void *descriptors[network::kMaxPieces];
  return offered(calls_.read(endpoint_->ep(), messageOf(rma, spec, there, descriptors)));
}

PostResult OfiCarrier::write(RmaOperation &rma, const RmaSpec &spec) {
  fi_rma_iov there = {spec.address, spec.bytes, spec.key};
  void *descriptors[network::kMaxPieces];
  return offered(calls_.write(endpoint_->ep(), messageOf(rma, spec, there, descriptors),
                              spec.isSilent ? 0 : FI_REMOTE_CQ_DATA));
}

void OfiCarrier::breakDown(const std::string &what, ssize_t code) {
  if (isBroken_)
    return;
  isBroken_ = true;
  handler_->onBroken("cannot " + what + ": " + textOf(code));
}

void OfiCarrier::listen(Frame &frame) {
  frame.kind = Operation::Kind::Receive;
  frame.isOpen = true;
  ssize_t code = calls_.recv(endpoint_->ep(), frame.data, received_->frameBytes(), frame.descriptor,
                             static_cast<Operation *>(&frame));
  if (code == 0)
    return;
  frame.isOpen = false;
  deaf_.push(frame);
  if (code != -FI_EAGAIN)
    breakDown("receive", code);
}

bool OfiCarrier::listenAgain() {
  if (isBroken_)
    return false;
  for (Frame *frame = deaf_.front(); frame; frame = deaf_.front()) {
    deaf_.pop();
    listen(*frame);
    if (!frame->isOpen)
      return false;
  }
  return true;
}

// True if the operation is a receive that was not reported before.
bool OfiCarrier::takeReceive(Operation &operation) {
  if (operation.kind != Operation::Kind::Receive)
    return false;
  refused_ += !operation.isOpen;
  return std::exchange(operation.isOpen, false);
}

// Only writes carry data. Some providers do not report a write as such, too: shm of libfabric 2
// does not.
void OfiCarrier::take(const fi_cq_data_entry &entry) {
  if ((entry.flags & FI_REMOTE_CQ_DATA) != 0)
    return handler_->onRemoteWrite(static_cast<uint32_t>(entry.data));
  if ((entry.flags & FI_REMOTE_WRITE) != 0)
    return;
  if (!entry.op_context) {
    ++refused_;
    return;
  }
  Operation &operation = operationOf(entry.op_context);
  if (operation.kind != Operation::Kind::Receive)
    return handler_->onDone(operation);
  if (!takeReceive(operation))
    return;
  auto &frame = static_cast<Frame &>(operation);
  handler_->onBytes({frame.data, std::min<size_t>(entry.len, received_->frameBytes())});
  listen(frame);
}

// A receive that failed brought no frame.
void OfiCarrier::takeError() {
  fi_cq_err_entry error = {};
  if (calls_.readError(endpoint_->cq(), &error) != 1)
    return;
  if (!error.op_context) {
    ++refused_;
    return;
  }
  Operation &operation = operationOf(error.op_context);
  if (operation.kind != Operation::Kind::Receive)
    return handler_->onFailed(operation, textOf(-error.err));
  if (!takeReceive(operation))
    return;
  ++refused_;
  listen(static_cast<Frame &>(operation));
}

// ofi_rxm reads freed memory when an endpoint is closed in the middle of a read or a write, at
// either end (seen in libfabric 1.17.0).
void OfiCarrier::stopUnconfirmed() {
  if (endpoint_->providerName().find("ofi_rxm") == std::string::npos)
    endpoint_->stop();
  else
    endpoint_->leak();
}

bool OfiCarrier::poll() {
  bool moved = false;
  fi_cq_data_entry entries[kEntries];
  for (int look = 0; look < kMaxLooks; ++look) {
    ssize_t count = calls_.readQueue(endpoint_->cq(), entries, kEntries);
    for (ssize_t i = 0; i < count; ++i)
      take(entries[i]);
    if (count == -FI_EAVAIL)
      takeError();
    else if (count < 0 && count != -FI_EAGAIN)
      breakDown("poll for completions", count);
    moved |= count > 0;
    if (count != kEntries && count != -FI_EAVAIL)
      break;
  }
  if (!deaf_.empty())
    moved |= listenAgain();
  if (moved)
    endpoint_->noteEvent();
  return moved;
}

bool isBuiltIn() { return true; }
bool isLoadable() { return Library::load().ok(); }

Result<std::unique_ptr<network::Carrier>> open(const Options &options) {
  return OfiCarrier::open(options);
}

} // namespace colldsl::ofi
