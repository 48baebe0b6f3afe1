/// Makes the combiner of a plan from an operator and a datatype of MPI.
#pragma once

#include "executor/Reduce.h"
#include "mpi/types/Datatype.h"

#include <atomic>
#include <memory>

namespace colldsl::mpi {

/// An operator on a datatype. It stays where it is: its combiner's context is this.
///
/// A plan's elements are the packed ones, data without gaps. If the program's elements have no
/// gaps, they lie in the program's own memory; else isPacked(), and the owner of the plan packs.
///
/// The result of an operator of MPI's depends on no machine and on no length: all ranks that
/// combine the same values in the same order get the same bits.
class Reduction {
public:
  Reduction(const Reduction &) = delete;
  Reduction &operator=(const Reduction &) = delete;

  /// Null: not served; the MPI below serves the call, or reports the error. The answer depends only
  /// on the operator and on the constructors of the datatype, so that it is the same on all ranks.
  static std::unique_ptr<Reduction> of(MPI_Op op, MPI_Datatype type);

  /// True if of() returned null for this operator and datatype, both of MPI, a while ago. False:
  /// call of(). Under a Guard, as of().
  static bool isKnownUnserved(MPI_Op op, MPI_Datatype type);

  /// Valid as long as this lives, and, of a user's operator, operator and datatype; for one plan
  /// at a time, since it has memory of its own. Allocates nothing when it is applied.
  Combiner combiner() { return {apply_, this, layout_->size, !isUsers(), typed_}; }

  /// True if a device can apply the operator to the datatype. Under a Guard, as of().
  static bool isOfDevices(MPI_Op op, MPI_Datatype type);

  /// The number of operators that the program has freed: a handle may mean another operator since.
  /// Relaxed: a thread that gets such a handle gets it behind the call that freed it, which
  /// counted.
  static uint64_t numFreed() { return numFreed_.load(std::memory_order_relaxed); }
  static void countFreed() { numFreed_.fetch_add(1, std::memory_order_relaxed); }

  /// True if a plan that combines with the other one can combine with this instead.
  bool canReplace(const Reduction &other) const {
    return commutes_ == other.commutes_ && isUsers() == other.isUsers() &&
           layout_->size == other.layout_->size;
  }

  bool commutes() const { return commutes_; }
  bool isUsers() const { return op_ != MPI_OP_NULL; } ///< calls a function of the program
  bool isPacked() const { return !layout_->isDense(); }

  /// The datatype that is passed to that function, if the program may free it; or
  /// MPI_DATATYPE_NULL.
  MPI_Datatype heldType() const { return layout_->isNamed ? MPI_DATATYPE_NULL : type_; }

private:
  /// Memory of some elements in MPI's layout.
  class Elements {
  public:
    void allocate(MPI_Aint first, uint64_t bytes);
    /// The address that MPI takes: elements may lie before or behind it.
    std::byte *address() const { return address_; }

  private:
    std::unique_ptr<std::byte[]> memory_; ///< not initialised
    std::byte *address_ = nullptr;
  };

  Reduction() = default;
  static std::unique_ptr<Reduction> ofMpis(MPI_Op op, MPI_Datatype type);
  static std::unique_ptr<Reduction> ofUsers(MPI_Op op, MPI_Datatype type);
  static void applyKernel(std::byte *target, const std::byte *first, const std::byte *source,
                          uint64_t bytes, Side side, void *context);
  static void applyUsers(std::byte *target, const std::byte *first, const std::byte *source,
                         uint64_t bytes, Side side, void *context);
  static void applyPacked(std::byte *target, const std::byte *first, const std::byte *source,
                          uint64_t bytes, Side side, void *context);
  bool measure(MPI_Datatype type);
  void allocate();
  void combine(const std::byte *in, std::byte *inout, uint64_t bytes) const;

  static std::atomic<uint64_t> numFreed_;

  Combiner::Apply apply_ = nullptr;
  SharedLayout layout_;
  MPI_Aint first_ = 0, end_ = 0; ///< of an element's data, from its address
  bool commutes_ = true;

  ReduceFunction before_ = nullptr, after_ = nullptr; ///< of MPI's operators, one for each side
  std::optional<TypedReduction> typed_;               ///< likewise, if colldsl has it

  MPI_Op op_ = MPI_OP_NULL; ///< of the user's operators
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  uint64_t chunkBytes_ = 0; ///< packed bytes that fit the scratch arrays
  Elements own_, incoming_; ///< of the target, only if it is packed; of the source
};

} // namespace colldsl::mpi
