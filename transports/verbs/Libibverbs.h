/// libibverbs itself, and librdmacm, loaded when they are first needed. Processes that use no verbs
/// need neither; processes whose devices librdmacm does not connect need no librdmacm.
#pragma once

#include "ir/Result.h"

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

// The functions of libibverbs that are not inline. Functions that its header hides behind macros
// have another name there.
#define COLLDSL_VERBS_FUNCTIONS(X)                                                                 \
  X(get_device_list)                                                                               \
  X(free_device_list)                                                                              \
  X(get_device_name)                                                                               \
  X(open_device)                                                                                   \
  X(close_device)                                                                                  \
  X(query_device)                                                                                  \
  X(query_gid)                                                                                     \
  X(alloc_pd)                                                                                      \
  X(dealloc_pd)                                                                                    \
  X(dereg_mr)                                                                                      \
  X(create_comp_channel)                                                                           \
  X(destroy_comp_channel)                                                                          \
  X(create_cq)                                                                                     \
  X(destroy_cq)                                                                                    \
  X(get_cq_event)                                                                                  \
  X(ack_cq_events)                                                                                 \
  X(create_srq)                                                                                    \
  X(destroy_srq)                                                                                   \
  X(create_qp)                                                                                     \
  X(modify_qp)                                                                                     \
  X(destroy_qp)                                                                                    \
  X(create_ah)                                                                                     \
  X(destroy_ah)                                                                                    \
  X(wc_status_str)

#define COLLDSL_CM_FUNCTIONS(X)                                                                    \
  X(create_event_channel)                                                                          \
  X(destroy_event_channel)                                                                         \
  X(create_id)                                                                                     \
  X(destroy_id)                                                                                    \
  X(bind_addr)                                                                                     \
  X(listen)                                                                                        \
  X(get_src_port)                                                                                  \
  X(resolve_addr)                                                                                  \
  X(resolve_route)                                                                                 \
  X(init_qp_attr)                                                                                  \
  X(connect)                                                                                       \
  X(accept)                                                                                        \
  X(reject)                                                                                        \
  X(get_cm_event)                                                                                  \
  X(ack_cm_event)

namespace colldsl::verbs {

/// Thread safe. It stays until the process ends.
struct Library {
#define COLLDSL_VERBS_POINTER(name) decltype(&ibv_##name) name = nullptr;
  COLLDSL_VERBS_FUNCTIONS(COLLDSL_VERBS_POINTER)
#undef COLLDSL_VERBS_POINTER
  int (*query_port)(ibv_context *, uint8_t, _compat_ibv_port_attr *) = nullptr;
  ibv_mr *(*reg_mr)(ibv_pd *, void *, size_t, int) = nullptr;
  decltype(&ibv_reg_dmabuf_mr) reg_dmabuf_mr = nullptr; ///< null: too old
  ssize_t (*query_gid_ex)(ibv_context *, uint32_t, uint32_t, ibv_gid_entry *, uint32_t,
                          size_t) = nullptr;
  int (*query_qp_data_in_order)(ibv_qp *, ibv_wr_opcode, uint32_t) = nullptr; ///< null: too old

  static const Status &load();
  /// After load().
  static const Library &get();
};

/// As Library.
struct CmLibrary {
#define COLLDSL_CM_POINTER(name) decltype(&rdma_##name) name = nullptr;
  COLLDSL_CM_FUNCTIONS(COLLDSL_CM_POINTER)
#undef COLLDSL_CM_POINTER

  static const Status &load();
  static const CmLibrary &get();
};

} // namespace colldsl::verbs
