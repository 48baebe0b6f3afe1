/// An operation of the MPI's own that is under way at one rank while that rank waits for something
/// else: it completes only if that wait moves the MPI.
#pragma once

#include "tests/mpi/Report.h"

#include <memory>
#include <mpi.h>
#include <vector>

namespace conformance {

enum class PendingKind {
  Isend,
  Issend,
  Ibsend,
  Irecv,
  IrecvOfSsend,
  Persistent,
  Partitioned,
  Intercommunicator,
  Collective,
  Duplicate,
  OneSided
};

/// Whether this MPI has operations of this kind.
bool has(PendingKind kind);

/// Between two ranks of MPI_COMM_WORLD, `origin` and `partner`. Made and destroyed by all ranks.
class Pending {
public:
  struct Roles {
    int origin, partner;
    bool isOrigin, isPartner;
  };

  /// Collective over MPI_COMM_WORLD. `count`: ints that are moved.
  static std::unique_ptr<Pending> make(PendingKind kind, Roles roles, int count);
  virtual ~Pending() = default;

  /// At the origin: begins it, without a wait.
  virtual void begin() = 0;
  /// At the partner: its side, from beginning to end.
  virtual void answer() = 0;
  /// At ranks that are neither: their part, without a wait.
  virtual void stand() {}
  /// After all requests are complete, at origin and partner.
  virtual void check(Report &report) const = 0;

  /// At the origin, after begin(): what is to be completed.
  std::vector<MPI_Request> &requests() { return requests_; }

protected:
  explicit Pending(Roles roles) : roles_(roles) {}

  Roles roles_;
  std::vector<MPI_Request> requests_;
};

} // namespace conformance
