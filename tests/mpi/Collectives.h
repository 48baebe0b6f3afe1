/// The collectives that are not of neighbours, behind one function.
#pragma once

#include "tests/mpi/Form.h"
#include "tests/mpi/Report.h"
#include "tests/mpi/Side.h"

#include <optional>
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
  Form form = Form::Blocking;
  /// Counts of type MPI_Count: the functions whose names end in _c.
  bool large = false;
};

/// As MPI spells it: MPI_Ireduce_scatter, MPI_Reduce_scatter_init.
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
  CollectiveCall() : CollectiveCall({}, {}) {}
  CollectiveCall(const CollectiveForm &form, CollectiveArguments arguments);
  /// What the MPI returns. `request` is set unless the form is Blocking.
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

/// A call of a trial: made anew at each start, or, if it is persistent, before the first one.
class StartedCall {
public:
  /// `reused`: holds the arrays of calls that are not persistent; null: they have new ones.
  explicit StartedCall(CollectiveCall *reused) : reused_(reused) {}
  StartedCall(const StartedCall &) = delete;
  StartedCall &operator=(const StartedCall &) = delete;
  ~StartedCall();

  /// Makes the request of a persistent call, once. All ranks make theirs in one order.
  void initialize(const CollectiveForm &form, CollectiveArguments arguments,
                  const std::string &label, Report &report);

  /// Null: the call is complete. A persistent one must be initialized.
  MPI_Request start(const CollectiveForm &form, CollectiveArguments arguments,
                    const std::string &label, Report &report);

private:
  MPI_Request make(const CollectiveForm &form, CollectiveArguments arguments,
                   const std::string &label, Report &report);

  CollectiveCall *reused_;
  std::optional<CollectiveCall> call_;
  MPI_Request persistent_ = MPI_REQUEST_NULL;
};

} // namespace conformance
