/// From MPI's operators and datatypes to what a plan combines with.
#pragma once

#include "executor/Reduce.h"
#include "mpi/Mpi.h"

#include <atomic>
#include <memory>
#include <vector>

namespace colldsl::mpi {

/// An operator on a datatype. It stays where it is: its combiner's context is this.
///
/// An element's bytes are its extent, gaps included, and begin at its lower bound. A plan moves
/// and copies whole elements; where these have gaps, and the gaps of a receive buffer must stay
/// as they are, it is to be bound to memory that stands in for that buffer.
///
/// The result of an operator of MPI's depends on no machine and on no length: all ranks that
/// combine the same values in the same order get the same bits.
class Reduction {
public:
  Reduction(const Reduction &) = delete;
  Reduction &operator=(const Reduction &) = delete;

  /// Null: not served, the MPI below is to do it, or to say what is wrong. The answer depends on
  /// the operator and on what the datatype is made of alone, so that it is the same on all ranks.
  static std::unique_ptr<Reduction> of(MPI_Op op, MPI_Datatype type);

  /// Valid as long as this lives, and, of a user's operator, operator and datatype; for one plan
  /// at a time, since it has memory of its own. Allocates nothing when it is applied.
  Combiner combiner() { return {apply_, this, elementBytes_}; }

  /// How many operators the program has freed: a handle may mean another one since.
  static uint64_t numFreed() { return numFreed_.load(std::memory_order_relaxed); }
  static void countFreed() { numFreed_.fetch_add(1, std::memory_order_relaxed); }

  bool commutes() const { return commutes_; }
  bool isUsers() const { return op_ != MPI_OP_NULL; } ///< a function of the program is called
  bool hasGaps() const { return hasGaps_; }           ///< in an element or between two

  /// Where a plan's memory begins, seen from MPI's address of the buffer.
  MPI_Aint lowerBound() const { return lowerBound_; }

private:
  Reduction() = default;
  static std::unique_ptr<Reduction> ofMpis(MPI_Op op, MPI_Datatype type);
  static std::unique_ptr<Reduction> ofUsers(MPI_Op op, MPI_Datatype type);
  static void applyKernel(std::byte *target, const std::byte *source, uint64_t bytes, Side side,
                          void *context);
  static void applyUsers(std::byte *target, const std::byte *source, uint64_t bytes, Side side,
                         void *context);
  bool measure(MPI_Datatype type);

  static std::atomic<uint64_t> numFreed_;

  Combiner::Apply apply_ = nullptr;
  uint64_t elementBytes_ = 0;
  MPI_Aint lowerBound_ = 0;
  bool commutes_ = true;
  bool hasGaps_ = false;

  ReduceFunction before_ = nullptr, after_ = nullptr; ///< of MPI's operators, by the side

  MPI_Op op_ = MPI_OP_NULL; ///< of users
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  std::vector<std::byte> scratch_; ///< some elements, at least one
};

} // namespace colldsl::mpi
