/// The neighbour operations in all their forms, behind one function.
#pragma once

#include "tests/mpi/Form.h"
#include "tests/mpi/Side.h"

#include <string>

namespace conformance {

enum class Operation : uint32_t { Allgather, Allgatherv, Alltoall, Alltoallv, Alltoallw };

struct CallName {
  Operation operation;
  Form form;
  /// Counts of type MPI_Count: the functions whose names end in _c.
  bool large = false;
};

/// As MPI spells it: MPI_Ineighbor_alltoallv_c.
std::string spell(const CallName &name);
/// Whether this MPI has functions whose names end in _c.
bool hasLargeCounts();

/// Makes a call; the arrays that the MPI sees live until `release`.
class Call {
public:
  Call(const CallName &name, SideArguments send, SideArguments recv, MPI_Comm comm);
  /// What the MPI returns. `request` is set unless the form is Blocking.
  int make(MPI_Request *request);
  /// Overwrites the arrays with nonsense and frees them.
  void release();

private:
  CallName name_;
  SideArguments send_, recv_;
  std::vector<MPI_Count> largeSendCounts_, largeRecvCounts_;
  std::vector<MPI_Aint> largeSendDisplacements_, largeRecvDisplacements_;
  MPI_Comm comm_;
};

} // namespace conformance
