/// One call on one communicator: its blocks, its buffers, and what the oracle says it must do.
#pragma once

#include "tests/mpi/Calls.h"
#include "tests/mpi/Report.h"
#include "tests/mpi/Topologies.h"
#include "tests/mpi/Trial.h"

#include <optional>

namespace conformance {

/// What all ranks agree on.
struct Spec : Data {
  CallName name;
  /// Arrays are spoiled as soon as the call returns.
  bool spoilArrays = false;
};

class Exchange : public Trial {
public:
  /// `local` differs from rank to rank. `arenas`: the memory of its buffers, which outlives it;
  /// null: they have new memory.
  Exchange(const Topology &topology, const Spec &spec, Random local, Report &report,
           const Arenas *arenas = nullptr);
  Exchange(const Exchange &) = delete;
  ~Exchange() override;

  void prepare() override;
  /// A persistent call must be initialized.
  MPI_Request start() override;
  void initialize();
  /// Frees the types that the call was given, which MPI allows as soon as it has begun.
  void freeTypes();
  void check() override;
  /// This rank's counts, types, places and buffers change, but not what is sent.
  void redraw(bool sendSide, bool recvSide);
  void moveBuffers() override;

  const std::string &label() const override { return label_; }
  /// The request of a persistent call, from `initialize` to the end.
  MPI_Request persistentRequest() const { return persistent_; }

private:
  void askOracle();
  void makeCall(MPI_Request *request);

  const Topology &topology_;
  Spec spec_;
  Random local_;
  Report &report_;
  int rank_;
  std::string label_;
  Side send_, recv_;
  std::vector<std::byte> expected_, sent_, guard_;
  std::optional<Call> call_;
  MPI_Request persistent_ = MPI_REQUEST_NULL;
};

} // namespace conformance
