/// The collectives that are not of neighbours, behind one function.
#pragma once

#include "tests/mpi/Side.h"

#include <string>

namespace conformance {

enum class Collective : uint32_t {
  Barrier,
  Bcast,
  Reduce,
  Allreduce,
  Reduce_scatter,
  Reduce_scatter_block,
  Allgather,
  Allgatherv,
  Alltoall,
  Alltoallv,
  Alltoallw,
  Gather,
  Gatherv,
  Scatter,
  Scatterv,
  Scan,
  Exscan
};

struct CollectiveForm {
  Collective collective;
  bool nonblocking = false;
  /// Counts of type MPI_Count: the functions whose names end in _c.
  bool large = false;
};

/// As MPI spells it: MPI_Ireduce_scatter.
std::string spell(const CollectiveForm &form);
/// Whether this MPI has functions whose names end in _c.
bool hasLargeCollectives();

/// Each list of a side has at least one entry, and beyond that as many as the call reads. A bcast
/// has its one side as `send`, a reduction its count, counts and type in `recv`.
struct CollectiveArguments {
  SideArguments send, recv;
  MPI_Op op = MPI_OP_NULL;
  int root = 0;
  MPI_Comm comm = MPI_COMM_NULL;
};

/// Makes a call; the arrays that the MPI sees live as long as this.
class CollectiveCall {
public:
  CollectiveCall(const CollectiveForm &form, CollectiveArguments arguments);
  /// What the MPI returns. `request` is set by a nonblocking one.
  int make(MPI_Request *request);

private:
  template <typename Count, typename Place> struct Arrays {
    explicit Arrays(const CollectiveArguments &arguments);
    std::vector<Count> sendCounts, recvCounts;
    std::vector<Place> sendPlaces, recvPlaces, sendBytes, recvBytes;
  };

  int makeSmall(MPI_Request *request);
  int makeLarge(MPI_Request *request);

  CollectiveForm form_;
  CollectiveArguments arguments_;
  Arrays<int, int> ints_;
  Arrays<MPI_Count, MPI_Aint> larges_;
};

} // namespace conformance
