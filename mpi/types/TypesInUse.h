/// Datatypes whose handles runs give to functions of the program.
#pragma once

#include "mpi/Mpi.h"

#include <mutex>
#include <vector>

namespace colldsl::mpi {

/// A program may free them meanwhile, and still gets its own handle in its function: a duplicate
/// might have other attributes. So freed datatypes are kept. Any thread, without a Guard: a
/// function may free datatypes, too.
class TypesInUse {
public:
  void begin(MPI_Datatype type);
  void end(MPI_Datatype type);

  /// Keeps a datatype that the program frees while it is in use: until it is no longer used and the
  /// next one is freed, or until freeAll(). False: the caller frees it.
  bool take(MPI_Datatype type);

  void freeAll();

private:
  bool isUsed(MPI_Datatype type) const;

  std::mutex mutex_;
  std::vector<MPI_Datatype> used_; ///< once for each run
  std::vector<MPI_Datatype> kept_;
};

} // namespace colldsl::mpi
