// Collectives that copy what they send to the host, and what they receive back: by functions of the
// driver, whatever memory it is.
#include "tests/mpi/Inputs/cuda-aware.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <vector>

namespace {

int calls;

/// With unified addresses the driver finds out in which memory both are.
void copy(void *to, const void *from, size_t bytes) {
  using Copy = int (*)(uintptr_t to, uintptr_t from, size_t bytes);
  static void *driver = dlopen("libcuda.so.1", RTLD_NOW);
  static auto copyBytes = reinterpret_cast<Copy>(driver ? dlsym(driver, "cuMemcpy") : nullptr);
  if (copyBytes &&
      copyBytes(reinterpret_cast<uintptr_t>(to), reinterpret_cast<uintptr_t>(from), bytes) == 0)
    return;
  std::fprintf(stderr, "cuMemcpy fails\n");
  std::exit(1);
}

/// A buffer of a call, in memory of the host for as long as that takes.
class Staged {
public:
  Staged(const void *at, int count)
      : at_(const_cast<void *>(at)), host_(static_cast<size_t>(count)) {
    copy(host_.data(), at_, bytes());
  }
  void *get() { return host_.data(); }
  void putBack() { copy(at_, host_.data(), bytes()); }

private:
  size_t bytes() const { return host_.size() * sizeof(int); }
  void *at_;
  std::vector<int> host_;
};

int sizeOf(MPI_Comm comm) {
  int size = 0;
  PMPI_Comm_size(comm, &size);
  return size;
}

} // namespace

extern "C" {
int callsBelow() { return calls; }

#define BELOW(name) reinterpret_cast<decltype(&name)>(dlsym(RTLD_NEXT, #name))

int PMPI_Allreduce(const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  if (n != kAwareCount)
    return BELOW(PMPI_Allreduce)(in, out, n, type, op, comm);
  ++calls;
  Staged from(in, n), to(out, n);
  int code = BELOW(PMPI_Allreduce)(from.get(), to.get(), n, type, op, comm);
  to.putBack();
  return code;
}

int PMPI_Bcast(void *buffer, int n, MPI_Datatype type, int root, MPI_Comm comm) {
  if (n != kAwareCount)
    return BELOW(PMPI_Bcast)(buffer, n, type, root, comm);
  ++calls;
  Staged at(buffer, n);
  int code = BELOW(PMPI_Bcast)(at.get(), n, type, root, comm);
  at.putBack();
  return code;
}

int PMPI_Allgather(const void *in, int n, MPI_Datatype type, void *out, int m, MPI_Datatype got,
                   MPI_Comm comm) {
  if (n != kAwareCount)
    return BELOW(PMPI_Allgather)(in, n, type, out, m, got, comm);
  ++calls;
  Staged from(in, n), to(out, n * sizeOf(comm));
  int code = BELOW(PMPI_Allgather)(from.get(), n, type, to.get(), m, got, comm);
  to.putBack();
  return code;
}

int PMPI_Neighbor_allgather(const void *in, int n, MPI_Datatype type, void *out, int m,
                            MPI_Datatype got, MPI_Comm comm) {
  if (n != kAwareCount)
    return BELOW(PMPI_Neighbor_allgather)(in, n, type, out, m, got, comm);
  ++calls;
  Staged from(in, n), to(out, n * 2);
  int code = BELOW(PMPI_Neighbor_allgather)(from.get(), n, type, to.get(), m, got, comm);
  to.putBack();
  return code;
}
}
