/// The operations that a communicator keeps for calls that come again.
///
/// Programs make calls in turns, so what was used least lately is what comes next: with one call
/// more than there are places, a list by last use would never have it. The place that is taken is
/// drawn.
#pragma once

#include "mpi/Operation.h"

#include <array>
#include <memory>
#include <vector>

namespace colldsl::mpi {

/// Under a Guard.
class PreparedOperations {
public:
  /// So many per kind of call.
  static constexpr size_t kMost = 32;

  struct Found {
    std::shared_ptr<Operation> operation; ///< has the shape of the call; null: none is idle
    bool isThere = false;                 ///< its buffers are those of the call
    size_t places = 0;                    ///< how many there are that differ in these alone
  };
  /// One whose buffers are those of the call, else that which was used least lately. It counts as
  /// used.
  Found find(const Call &call);

  /// Once all places of the kind are taken: one that from now on serves the call, which has the
  /// shape of none. Null: none can, or places are left. It may differ from call to call.
  std::shared_ptr<Operation> resize(const Call &call);

  /// Where no place is left it takes one.
  void put(const std::shared_ptr<Operation> &operation);
  void clear() { kinds_.fill({}); }

private:
  struct Place {
    uint64_t shape = 0; ///< Operation::shape()
    uint64_t lastUse = 0;
    std::shared_ptr<Operation> operation;
  };
  using Places = std::vector<Place>;

  Places &of(CallKind kind) { return kinds_[static_cast<size_t>(kind)]; }
  const Places &of(CallKind kind) const { return kinds_[static_cast<size_t>(kind)]; }
  size_t draw() {
    random_ = random_ * 1664525 + 1013904223; // Numerical Recipes
    return (random_ >> 16) % kMost;
  }

  std::array<Places, kCallKinds> kinds_;
  uint64_t uses_ = 0;
  uint32_t random_ = 1;
};

} // namespace colldsl::mpi
