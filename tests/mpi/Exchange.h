/// One call on one communicator: its blocks, its buffers, and what the oracle says it must do.
#pragma once

#include "tests/mpi/Calls.h"
#include "tests/mpi/Datatypes.h"
#include "tests/mpi/Report.h"
#include "tests/mpi/Topologies.h"

#include <memory>
#include <optional>

namespace conformance {

/// What all ranks agree on.
struct Spec {
  CallName name;
  /// Datatypes of any shape, or plain ones.
  bool anyShape = false;
  /// Arrays are spoiled as soon as the call returns.
  bool spoilArrays = false;
  /// Blocks of as many as this times `elements` elements of a pattern.
  int mostCount = 8;
  int elements = 1;
  /// Sizes of blocks and patterns are drawn from it.
  uint64_t key = 0;
};

/// Memory from malloc or from MPI_Alloc_mem.
class Memory {
public:
  Memory() = default;
  Memory(size_t size, bool fromMpi);
  std::byte *data() const { return bytes_.get(); }
  size_t size() const { return size_; }

private:
  size_t size_ = 0;
  std::unique_ptr<std::byte, void (*)(std::byte *)> bytes_{nullptr, nullptr};
};

/// The blocks of one side, by slot; the side that sends of an allgather has one slot.
struct Side {
  /// Redraws counts, types, places and buffer; what the ranks agreed on stays.
  void draw(const Spec &spec, const std::vector<Edge> &edges, int rank, bool sending,
            Random &random);
  void fill(Random &random);
  SideArguments arguments() const;
  std::byte *block(size_t slot) const { return memory.data() + base + places[slot]; }
  /// The first and one past the last byte of the buffer that a block may touch.
  std::pair<MPI_Aint, MPI_Aint> range(size_t slot) const;

  std::vector<int> counts, displacements;
  std::vector<MPI_Aint> places;
  /// One for all slots, or one for each; the oracle has its own, which live longer.
  std::vector<Datatype> types, oracleTypes;
  Memory memory;
  size_t base = 0;

private:
  void drawUniform(const Spec &spec, const std::vector<int> &sizes, bool sending, Random &random);
  void drawPerSlot(const Spec &spec, const std::vector<int> &sizes, const std::vector<Edge> &edges,
                   int rank, bool sending, Random &random);
  void allocate(Random &random);
  const Datatype &oracleType(size_t slot) const {
    return oracleTypes[oracleTypes.size() == 1 ? 0 : slot];
  }
  friend class Exchange;
};

class Exchange {
public:
  /// `local` differs from rank to rank.
  Exchange(const Topology &topology, const Spec &spec, Random local, Report &report);
  Exchange(const Exchange &) = delete;
  ~Exchange();

  /// New data in the send buffer, guards in the receive buffer; asks the oracle, which talks.
  void prepare();
  /// Starts the call; a persistent one must be initialized.
  MPI_Request start();
  void initialize();
  /// Frees the types that the call was given, which MPI allows as soon as it has begun.
  void freeTypes();
  /// Compares what the call did with what the oracle did. The call must be complete.
  void check();
  /// This rank's counts, types, places and buffers change, but not what is sent.
  void redraw(bool sendSide, bool recvSide);
  /// Only where the buffers are.
  void moveBuffers();

  const std::string &label() const { return label_; }
  /// The request of a persistent call, from `initialize` to the end.
  MPI_Request persistentRequest() const { return persistent_; }

private:
  void askOracle();
  void makeCall(MPI_Request *request);
  std::string describe(size_t offset) const;

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
