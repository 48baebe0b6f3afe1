#include "tests/mpi/Calls.h"

#include "mpi/Mpi.h"

#include <algorithm>

namespace conformance {

std::string spell(const CallName &name) {
  static const char *const operations[] = {"allgather", "allgatherv", "alltoall", "alltoallv",
                                           "alltoallw"};
  std::string text = name.form == Form::Nonblocking ? "MPI_Ineighbor_" : "MPI_Neighbor_";
  text += operations[static_cast<uint32_t>(name.operation)];
  if (name.form == Form::Persistent)
    text += "_init";
  return text + (name.large ? "_c" : "");
}

Call::Call(const CallName &name, SideArguments send, SideArguments recv, MPI_Comm comm)
    : name_(name), send_(std::move(send)), recv_(std::move(recv)),
      largeSendCounts_(send_.counts.begin(), send_.counts.end()),
      largeRecvCounts_(recv_.counts.begin(), recv_.counts.end()),
      largeSendDisplacements_(send_.displacements.begin(), send_.displacements.end()),
      largeRecvDisplacements_(recv_.displacements.begin(), recv_.displacements.end()), comm_(comm) {
}

namespace {

template <typename T> void spoil(std::vector<T> &values) {
  std::fill(values.begin(), values.end(), static_cast<T>(-12345));
  std::vector<T>().swap(values);
}

void spoil(SideArguments &side) {
  spoil(side.counts);
  spoil(side.displacements);
  spoil(side.byteDisplacements);
  std::fill(side.types.begin(), side.types.end(), MPI_DATATYPE_NULL);
  std::vector<MPI_Datatype>().swap(side.types);
}

// What the functions are given, with counts of either type.
template <typename Count, typename Displacement> struct Given {
  const SideArguments &send, &recv;
  const Count *sendCounts, *recvCounts;
  const Displacement *sendDisplacements, *recvDisplacements;
  MPI_Comm comm;
};

// The five functions of one form: PREFIX and SUFFIX complete the names, the rest is what the form
// has behind the communicator.
#define FIVE_OPERATIONS(PREFIX, SUFFIX, ...)                                                       \
  switch (operation) {                                                                             \
  case Operation::Allgather:                                                                       \
    return PREFIX##allgather##SUFFIX(g.send.buffer, g.sendCounts[0], g.send.types[0],              \
                                     g.recv.buffer, g.recvCounts[0], g.recv.types[0],              \
                                     g.comm __VA_OPT__(, ) __VA_ARGS__);                           \
  case Operation::Allgatherv:                                                                      \
    return PREFIX##allgatherv##SUFFIX(g.send.buffer, g.sendCounts[0], g.send.types[0],             \
                                      g.recv.buffer, g.recvCounts, g.recvDisplacements,            \
                                      g.recv.types[0], g.comm __VA_OPT__(, ) __VA_ARGS__);         \
  case Operation::Alltoall:                                                                        \
    return PREFIX##alltoall##SUFFIX(g.send.buffer, g.sendCounts[0], g.send.types[0],               \
                                    g.recv.buffer, g.recvCounts[0], g.recv.types[0],               \
                                    g.comm __VA_OPT__(, ) __VA_ARGS__);                            \
  case Operation::Alltoallv:                                                                       \
    return PREFIX##alltoallv##SUFFIX(                                                              \
        g.send.buffer, g.sendCounts, g.sendDisplacements, g.send.types[0], g.recv.buffer,          \
        g.recvCounts, g.recvDisplacements, g.recv.types[0], g.comm __VA_OPT__(, ) __VA_ARGS__);    \
  case Operation::Alltoallw:                                                                       \
    return PREFIX##alltoallw##SUFFIX(g.send.buffer, g.sendCounts, g.send.byteDisplacements.data(), \
                                     g.send.types.data(), g.recv.buffer, g.recvCounts,             \
                                     g.recv.byteDisplacements.data(), g.recv.types.data(),         \
                                     g.comm __VA_OPT__(, ) __VA_ARGS__);                           \
  }                                                                                                \
  return MPI_ERR_OTHER

using Ints = Given<int, int>;
using Larges = Given<MPI_Count, MPI_Aint>;

int block(Operation operation, const Ints &g) { FIVE_OPERATIONS(MPI_Neighbor_, ); }
int begin(Operation operation, const Ints &g, MPI_Request *r) {
  FIVE_OPERATIONS(MPI_Ineighbor_, , r);
}
#ifdef COLLDSL_MPI_PERSISTENT_EXTENSION
int init(Operation operation, const Ints &g, MPI_Request *r) {
  FIVE_OPERATIONS(MPIX_Neighbor_, _init, MPI_INFO_NULL, r);
}
#else
int init(Operation operation, const Ints &g, MPI_Request *r) {
  FIVE_OPERATIONS(MPI_Neighbor_, _init, MPI_INFO_NULL, r);
}
#endif
#ifdef COLLDSL_MPI_LARGE_COUNTS
int block(Operation operation, const Larges &g) { FIVE_OPERATIONS(MPI_Neighbor_, _c); }
int begin(Operation operation, const Larges &g, MPI_Request *r) {
  FIVE_OPERATIONS(MPI_Ineighbor_, _c, r);
}
int init(Operation operation, const Larges &g, MPI_Request *r) {
  FIVE_OPERATIONS(MPI_Neighbor_, _init_c, MPI_INFO_NULL, r);
}
#endif

template <typename G> int makeIn(const CallName &name, const G &given, MPI_Request *request) {
  switch (name.form) {
  case Form::Blocking:
    return block(name.operation, given);
  case Form::Nonblocking:
    return begin(name.operation, given, request);
  case Form::Persistent:
    return init(name.operation, given, request);
  }
  return MPI_ERR_OTHER;
}

} // namespace

int Call::make(MPI_Request *request) {
  if (!name_.large)
    return makeIn(name_,
                  Ints{send_, recv_, send_.counts.data(), recv_.counts.data(),
                       send_.displacements.data(), recv_.displacements.data(), comm_},
                  request);
#ifdef COLLDSL_MPI_LARGE_COUNTS
  return makeIn(name_,
                Larges{send_, recv_, largeSendCounts_.data(), largeRecvCounts_.data(),
                       largeSendDisplacements_.data(), largeRecvDisplacements_.data(), comm_},
                request);
#else
  return MPI_ERR_OTHER;
#endif
}

#ifdef COLLDSL_MPI_LARGE_COUNTS
bool hasLargeCounts() { return true; }
#else
bool hasLargeCounts() { return false; }
#endif

void Call::release() {
  spoil(send_);
  spoil(recv_);
  spoil(largeSendCounts_);
  spoil(largeRecvCounts_);
  spoil(largeSendDisplacements_);
  spoil(largeRecvDisplacements_);
}

} // namespace conformance
