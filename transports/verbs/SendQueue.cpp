#include "transports/verbs/SendQueue.h"

#include <algorithm>
#include <cstring>

namespace colldsl::verbs {

void SendQueue::add(network::Operation *operation, const ibv_send_wr &request) {
  if (!chain_)
    chain_ = std::make_unique<Chain>();
  ibv_send_wr &added = chain_->requests[waiting_] = request;
  added.wr_id = handle_ << 33 | uint64_t{next_} << 1 | 1;
  added.sg_list = &chain_->pieces[numPieces_];
  added.next = nullptr;
  std::copy_n(request.sg_list, request.num_sge, added.sg_list);
  if ((request.send_flags & IBV_SEND_INLINE) != 0) {
    std::byte *copy = chain_->inlined[waiting_].data();
    std::memcpy(copy, reinterpret_cast<const void *>(request.sg_list->addr),
                request.sg_list->length);
    added.sg_list->addr = reinterpret_cast<uint64_t>(copy);
  }
  numPieces_ += static_cast<uint32_t>(request.num_sge);
  if (waiting_ > first_)
    chain_->requests[waiting_ - 1].next = &added;
  ++waiting_;
  operations_[next_++ % operations_.size()] = operation;
}

int SendQueue::post(Calls &calls, ibv_qp *pair) {
  if (waiting() == 0)
    return 0;
  ibv_send_wr *first = &chain_->requests[first_], *refused = first;
  chain_->requests[waiting_ - 1].send_flags |= IBV_SEND_SIGNALED;
  if (int error = calls.postSend(pair, first, &refused); error != 0) {
    first_ += static_cast<uint32_t>(refused - first);
    return error;
  }
  first_ = waiting_ = numPieces_ = 0;
  return 0;
}

std::vector<network::Operation *> SendQueue::cancelAll() {
  std::vector<network::Operation *> given;
  next_ -= waiting();
  for (uint32_t i = 0; i < waiting(); ++i)
    given.push_back(operations_[(next_ + i) % operations_.size()]);
  first_ = waiting_ = numPieces_ = 0;
  return given;
}

std::optional<SendQueue::Done> SendQueue::takeDone(uint64_t id) {
  uint32_t ahead = static_cast<uint32_t>(id >> 1) - done_;
  if (ahead >= open() - waiting())
    return std::nullopt;
  return Done{operations_[done_++ % operations_.size()], ahead == 0};
}

} // namespace colldsl::verbs
