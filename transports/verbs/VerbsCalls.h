/// The calls of verbs that move messages, and those of librdmacm that call and listen, in one
/// place, so that tests can let any of them fail. Each does what its namesake does; an error is a
/// number of errno, or, of a poll and of librdmacm, negative.
#pragma once

#include "transports/verbs/Libibverbs.h"

#include <sys/uio.h>

namespace colldsl::verbs {

class Calls {
public:
  virtual ~Calls() = default;

  virtual int postSend(ibv_qp *pair, ibv_send_wr *first, ibv_send_wr **refused) {
    return ibv_post_send(pair, first, refused);
  }
  virtual int postReceive(ibv_srq *srq, ibv_recv_wr *one) {
    ibv_recv_wr *bad = nullptr;
    return ibv_post_srq_recv(srq, one, &bad);
  }
  virtual int postReceive(ibv_qp *pair, ibv_recv_wr *one) {
    ibv_recv_wr *bad = nullptr;
    return ibv_post_recv(pair, one, &bad);
  }
  virtual int pollQueue(ibv_cq *queue, int count, ibv_wc *completions) {
    return ibv_poll_cq(queue, count, completions);
  }
  virtual ibv_mr *registerMemory(ibv_pd *domain, const iovec &memory, int access) {
    return (Library::get().reg_mr)(domain, memory.iov_base, memory.iov_len, access);
  }

  /// Registers a part of a dma-buf under `address`. The library has the function.
  virtual ibv_mr *registerDmaBuf(ibv_pd *domain, uint64_t offset, uint64_t bytes, uint64_t address,
                                 int file, int access) {
    return (Library::get().reg_dmabuf_mr)(domain, offset, bytes, address, file, access);
  }

  virtual int listen(rdma_cm_id *id, int backlog) { return CmLibrary::get().listen(id, backlog); }
  virtual int connect(rdma_cm_id *id, rdma_conn_param *terms) {
    return CmLibrary::get().connect(id, terms);
  }
  virtual int accept(rdma_cm_id *id, rdma_conn_param *terms) {
    return CmLibrary::get().accept(id, terms);
  }
  virtual int nextEvent(rdma_event_channel *channel, rdma_cm_event **event) {
    return CmLibrary::get().get_cm_event(channel, event);
  }

  /// The calls of production.
  static Calls &real() {
    static Calls calls;
    return calls;
  }
};

} // namespace colldsl::verbs
