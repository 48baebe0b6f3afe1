/// The calls of libfabric that move messages, in one place, so that tests can let any of them fail.
/// Each does what its namesake does; an error is negative, as there.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

namespace colldsl::ofi {

class Calls {
public:
  virtual ~Calls() = default;

  virtual ssize_t recv(fid_ep *ep, void *to, size_t bytes, void *desc, void *context) {
    return fi_recv(ep, to, bytes, desc, FI_ADDR_UNSPEC, context);
  }
  virtual ssize_t send(fid_ep *ep, const void *from, size_t bytes, void *desc, fi_addr_t to,
                       void *context) {
    return fi_send(ep, from, bytes, desc, to, context);
  }
  virtual ssize_t inject(fid_ep *ep, const void *from, size_t bytes, fi_addr_t to) {
    return fi_inject(ep, from, bytes, to);
  }
  virtual ssize_t read(fid_ep *ep, const fi_msg_rma &message) {
    return fi_readmsg(ep, &message, FI_COMPLETION);
  }
  virtual ssize_t write(fid_ep *ep, const fi_msg_rma &message, uint64_t flags) {
    return fi_writemsg(ep, &message, FI_COMPLETION | flags);
  }
  virtual ssize_t readQueue(fid_cq *queue, fi_cq_data_entry *entries, size_t count) {
    return fi_cq_read(queue, entries, count);
  }
  virtual ssize_t readError(fid_cq *queue, fi_cq_err_entry *entry) {
    return fi_cq_readerr(queue, entry, 0);
  }
  virtual int reach(fid_av *av, const void *address, fi_addr_t *handle) {
    return fi_av_insert(av, address, 1, handle, 0, nullptr);
  }
  virtual int registerMemory(fid_domain *domain, const iovec &memory, uint64_t access, uint64_t key,
                             fid_mr **region) {
    return fi_mr_regv(domain, &memory, 1, access, 0, key, 0, region, nullptr);
  }

  virtual int registerDevice(fid_domain *domain, const fi_mr_attr &memory, fid_mr **region) {
    return fi_mr_regattr(domain, &memory, 0, region);
  }

  /// The calls of production.
  static Calls &real() {
    static Calls calls;
    return calls;
  }
};

} // namespace colldsl::ofi
